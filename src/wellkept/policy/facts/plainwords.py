"""Words that the gate for facts knows: those that state nothing by themselves, and those that tell whose a
statement is."""

from __future__ import annotations

from wellkept.policy.text import lazy

_FRAME = """
user s name called aged old year of in on at to for with by from it he she they him her his its their them that who
which and or as has have be been being there this these those own self herself himself
用户 的 地 得 着 过 了 是 有 为 于 和 与 及 也 都 就 被 把 给 对 在 叫 名 字 岁 年 月 日 号 他 她 它 们 这 那 其 本 人 自 己
个 位 名叫 说
"""
FRAME = frozenset(_FRAME.split())
"""What a claim may add to the words of the message."""

_FILLER = """
really also just so too actually honestly well oh yes no ok okay hi hello hey btw fyi please remember note know that
think guess mean now currently today recently lately still already even as for about the a an and but because since
though by way of fact in remind told you tell let me say am is are was im ive been always definitely
most main got huge big quite pretty very
actually currently basically presently officially finally simply personally happily proudly obviously clearly
certainly
也 还 都 就 其 实 真 的 很 特 别 非 常 已 经 一 直 现 在 目 前 今 天 最 近 啊 呀 哦 嗯 好 对 了 那 这 说 告 诉 你 记 住 记得 请 因
为 所 以 而 且 另 外 顺 便 提 下 是 有 觉 得 想 应 该 又 才 从 小 平 时 家 里 年 总 挺 蛮 既 特别 非常 正 老 新 来 刚
"""
FILLER = frozenset(_FILLER.split())
"""What may stand before the words that a claim takes up without being its subject."""

SAID_BY: dict[str, tuple[str, ...]] = {
    "live": ("move", "relocat", "living", "resid", "home"),
    "work": ("job", "working"),
    "job": ("work",),
    "own": ("have", "has", "got"),
    "birthday": ("born",),
    "born": ("birthday",),
    "wife": ("married",),
    "allergic": ("allergi",),
    "prefer": ("instead",),
    "住": ("搬", "居"),
    "孩": ("娃", "儿"),
    "子": ("孩", "娃"),
    "工": ("班",),
    "作": ("班",),
}
"""What the left word claims is said by any of the right ones, which may be the beginning of a longer one."""

FIRST = frozenset(("i", "im", "ive", "id", "we", "our", "us", "我", "咱", "俺", "本人", "我们", "咱们"))
"""Words by which people speak of themselves as the subject."""

OTHERS = frozenset(("he", "she", "they", "you", "his", "her", "their", "your", "他", "她", "你", "您"))
"""Words for somebody else; a claim that leaves them out is about the wrong person."""

_KIN = (
    "妈妈|爸爸|父亲|母亲|女儿|儿子|老婆|老公|妻子|丈夫|姐姐|哥哥|弟弟|妹妹|姐|哥|弟|妹|爷爷|奶奶|外公|外婆|朋友|同事|老板|领导"
    "|同学|邻居|室友|女朋友|男朋友|小孩|孩子|娃|宝宝|猫|狗|叔叔|阿姨|舅舅|姑姑|表[哥姐弟妹]|堂[哥姐弟妹]|爸|妈|公司|团队|家人"
)
KIN = lazy.compile(rf"我(?:们)?(?:家)?(?:的)?({_KIN})")
"""In Chinese, somebody or something of mine, with the word for it."""

KIN_EN = (
    "wife|husband|spouse|partner|girlfriend|boyfriend|son|daughter|child|baby|brother|sister|twin|mother|father|mom|mum|dad"
    "|uncle|aunt|cousin|niece|nephew|grandmother|grandfather|grandma|grandpa|friend|colleague|coworker|boss|neighbou?r"
    "|roommate|flatmate|teacher|doctor"
)
"""In English, who may stand before a word that tells what that person is ("a brother, a dentist")."""

ITSELF = lazy.compile(rf"\W*(?:我|咱)(?!们?(?:家)?的?(?:{_KIN}))")
"""The beginning of a Chinese clause about the speaker."""
