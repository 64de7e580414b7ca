from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.errors import InvalidInput
from wellkept.policy.privacy.redact import DEFAULT, KINDS, Masked, redact
from wellkept.records import Secret


def masked(text: str) -> str:
    return redact(text, KINDS)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("身份证11010519491231002X号", "身份证[redacted:id_card]号"),
        ("身份证１１０１０５１９４９１２３１００２Ｘ", "身份证[redacted:id_card]"),
        ("是110105 19491231 002x。", "是[redacted:id_card]。"),
        ("身份证号：110105491231002", "身份证号：[redacted:id_card]"),
        ("卡号6222021234567890128在用", "卡号[redacted:bank_card]在用"),
        ("4111 1111 1111 1111", "[redacted:bank_card]"),
        ("3782 822463 10005", "[redacted:bank_card]"),
        ("key sk-proj-abc123def456ghi789jkl!", "key [redacted:api_key]!"),
        ("用AKIAIOSFODNN7EXAMPLE登录", "用[redacted:api_key]登录"),
        ("ghp_" + "a1" * 18, "[redacted:api_key]"),
        ("Authorization: Bearer abcdef1234567890XYZ", "Authorization: Bearer [redacted:api_key]"),
        ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "[redacted:api_key]"),
        ("密码是hunter2!", "密码是[redacted:password]"),
        ("密码：abc123，别告诉别人", "密码：[redacted:password]，别告诉别人"),
        ("密码123456", "密码[redacted:password]"),
        ("my password is Tr0ub4dor&3.", "my password is [redacted:password]."),
        ('pwd = "swordfish"', 'pwd = "[redacted:password]"'),
        ("PIN is 1234", "PIN is [redacted:password]"),
        ("postgresql://bob:s3cret@db/x", "postgresql://bob:[redacted:password]@db/x"),
        ("打13800138000或a@b.com", "打[redacted:mobile]或[redacted:email]"),
        ("+86 138-0013-8000", "[redacted:mobile]"),
    ],
)
def test_a_secret_is_masked_and_nothing_around_it(text: str, expected: str) -> None:
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "110105194912310021",
        "990105194912310021",
        "110105194913310021",
        "时间戳1718179200000",
        "20240630123456789",
        "4111111111111112",
        "订单号4111111111111111",
        "tracking no. 4111 1111 1111 1111",
        "task-force-1-something-long-name",
        "the bearer of this letter",
        "bearer responsibilities-and-duties",
        "密码是多少？",
        "我忘了密码",
        "password is required",
        "password: string",
        "password=os.environ['PW']",
        "He forgot his password yesterday",
        "版本 1.2.3.4",
        "call 12345678901",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert masked(text) == text


def test_only_the_chosen_kinds_are_masked() -> None:
    text = "13800138000, 密码是hunter2x"
    assert redact(text)[0] == "13800138000, 密码是[redacted:password]"
    assert redact(text, ["mobile"])[0] == "[redacted:mobile], 密码是hunter2x"
    assert redact(text, [])[0] == text


def test_the_list_names_kind_and_place_but_no_secret() -> None:
    text = "我的密码是hunter2x。"
    assert redact(text)[1] == (Masked("password", 5, 13),)
    assert "hunter" not in repr(redact(text)[1])


def test_mobile_numbers_and_addresses_are_a_choice() -> None:
    assert set(KINDS) - set(DEFAULT) == {"mobile", "email"}


def test_an_unknown_kind_is_refused() -> None:
    kinds: list[Secret] = ["passport"]  # type: ignore[list-item]
    with pytest.raises(InvalidInput, match="passport"):
        redact("x", kinds)


@given(
    st.integers(1900, 2020),
    st.integers(1, 12),
    st.integers(1, 28),
    st.integers(0, 999),
    st.sampled_from(["11", "44", "65"]),
)
def test_every_valid_identity_number_is_masked_beside_any_sign(
    year: int, month: int, day: int, serial: int, province: str
) -> None:
    body = f"{province}0101{year}{month:02d}{day:02d}{serial:03d}"
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    remainder = sum(int(digit) * weight for digit, weight in zip(body, weights, strict=True)) % 11
    number = body + "10X98765432"[remainder]
    assert masked(f"号码{number}是") == "号码[redacted:id_card]是"
    assert masked(f"号码{body}{'0' if number[-1] != '0' else '1'}是").startswith(f"号码{body[:6]}")


@given(st.text(alphabet="0123456789 -密码是:password=sk-AKIA@.comxX_[]redactd", max_size=80))
def test_masking_twice_changes_nothing(text: str) -> None:
    once = masked(text)
    assert redact(once, KINDS) == (once, ())
