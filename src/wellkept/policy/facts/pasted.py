"""A text that is handed over behind an order or a head of its own, without a mark around it, and a part that is played."""

from __future__ import annotations

import re

from wellkept.policy.text import lazy

_WORK = (
    r"(?:proof-?read|translate|summari[sz]e|sum up|rewrite|rephrase|paraphrase|polish|correct|edit|improve|shorten|fix"
    r"|review|check|analy[sz]e|explain|reply to|answer)\b"
)
_WORK_ZH = "翻译|总结|概括|归纳|润色|改写|修改|校对|缩写|扩写|分析|解释|点评|回复|看看|看一?下|检查|整理|批改"
_POINTER = (
    r"below|following|this(?! out)|these|attached"
    r"|(?:e-?mail|letter|text|article|message|essay|paragraph|post|note|bio|cv|resume)s?"
)
_POINTER_ZH = "下面|以下|如下|下文|这[封段篇份个条]|这些|[邮信]件|文章|文字|原文|内容|[:：]"
_ASKING = (
    r"[^\w\n]*(?:(?:please|kindly|hi|hello|hey|so|ok(?:ay)?|now|can you|could you|would you|will you|help me(?: to)?"
    r"|i (?:need|want) you to|i['’]d like you to|你好|那|好的?|请|麻烦|帮忙|帮我|帮|给我|替我|我想让|你|您|能不能|能|可以"
    r"|可否|再|先|来|把|将|对|下|一|以|面)[^\w\n]*)*"
)
# A line that orders work on a text, with the text on the lines after it; and the head of a letter.
_HANDED_OVER = lazy.compile(
    rf"^{_ASKING}(?:\b{_WORK}[^\n]*\b(?:{_POINTER})\b|(?:{_WORK_ZH})[^\n]*(?:{_POINTER_ZH}))[^\n]*\n"
    rf"|^{_ASKING}[^\n我]{{0,20}}?(?:{_POINTER_ZH})[^\n我]{{0,10}}?(?:{_WORK_ZH})[^\n]*\n"
    rf"|^{_ASKING}(?:\b{_WORK}|(?:{_WORK_ZH}))(?:一下)?\W*\n"
    r"|^(?:from|subject|发件人|主题)[:：][^\n]*\n(?:(?:to|from|cc|date|sent|subject|收件人|发件人|时间|日期|主题)[:：][^\n]*\n)+"
    r"|(?:let['’]?s|let us|we['’]?ll|i['’]?ll|we) (?:do (?:a |some )?)?(?:role-?\s?play|play pretend)\b|角色扮演|cosplay"
    r"|(?:咱们?|我们|来)[^\n，。]{0,4}(?:演戏|演一[场出]|过家家|玩个?游戏)",
    re.IGNORECASE | re.MULTILINE,
)
# Where the writer comes back behind a text that was handed over.
_BACK = lazy.compile(
    r"\n\s*\n(?=\W*(?:by the way|btw|p\W?s|as for me|about me|also,|顺便|对了|另外|至于我))", re.IGNORECASE
)


def without_pasted(text: str) -> str:
    """``text`` without a letter, a text to be worked on or what is said in a role, up to where the writer comes back."""
    if (found := _HANDED_OVER.search(text)) is None:
        return text
    back = _BACK.search(text, found.end())
    return f"{text[: found.start()]} \n {text[back.end() :] if back else ''}"
