from __future__ import annotations

import pytest

from wellkept.policy.text.language import fits, language, shares

ENGLISH = (
    "I have two cats and my sister is allergic to them. The flight is at 7, and you have to be there by 5."
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我小孩今年五岁", "zh"),
        ("圖書館的實驗紀錄", "zh"),
        ("用Python3写 VS Code编辑器里的脚本", "zh"),
        ("I went to the shop with my sister", "latin"),
        ("I went to 北京 for two weeks last year", "latin"),
        ("Où est la bibliothèque ?", "latin"),
        ("今日は東京に行きました", "ja"),
        ("カタカナ", "ja"),
        ("안녕하세요 여러분", "ko"),
        ("Привет, как дела", "cyrillic"),
        ("请看 https://example.com/a/very/long/address/in/english", "zh"),
        ("请改：\n```\ndef total(items): return sum(items)\n```", "zh"),
        ("12345 !?", None),
        ("", None),
        ("\ud800\0", None),
    ],
)
def test_the_language_is_told_by_script(text: str, expected: str | None) -> None:
    assert language(text) == expected


@pytest.mark.parametrize(
    ("summary", "source", "expected"),
    [
        ("用户养了两只猫。", "我养了两只猫", True),
        ("The user keeps two cats.", "我养了两只猫", False),
        ("用户养了两只猫。", "I keep two cats", False),
        ("The user keeps two cats.", "I keep two cats", True),
        ("用户用 Python 写脚本。", "我用 Python 写 deployment script", True),
        ("The user writes scripts.", "我用 Python 写 deployment script 和 unit test", True),
        ("ユーザーは猫を飼っています", "我养了两只猫", False),
        ("ユーザーはスクリプトを書く", "我用 Python 写 deployment script", False),
        ("Le client a deux chats et sa sœur est à la maison.", ENGLISH, False),
        ("Der Nutzer hat zwei Katzen und ist nicht mit ihr in Paris.", ENGLISH, False),
        ("El usuario tiene dos gatos y su hermana es alérgica a los gatos.", ENGLISH, False),
        (
            "The user has two cats and is in Paris with her.",
            "J'ai deux chats et je suis à la maison avec ma sœur.",
            False,
        ),
        ("- Two cats; sister allergic; flight at 7", ENGLISH, True),
        ("- Fan of De Niro and La La Land; Los Angeles, Las Vegas, El Paso", ENGLISH, True),
        (
            "Le client a deux chats et sa sœur est à la maison.",
            f"{ENGLISH} Je suis à la maison avec elle et le chat.",
            True,
        ),
        ("42", "我养了两只猫", True),
        ("anything", "42", True),
    ],
)
def test_a_summary_must_be_in_a_language_of_its_source(summary: str, source: str, expected: bool) -> None:
    assert fits(summary, source) is expected


def test_shares_add_up() -> None:
    assert sum(shares("我爱 Python and 日本").values()) == pytest.approx(1)


def test_a_long_text_is_read_at_both_ends() -> None:
    assert set(shares("字" * 1_000_000 + " word" * 2_000)) == {"zh", "latin"}
