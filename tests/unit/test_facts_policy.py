"""Intents, labels, room, and reading a model's answer."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.policy.facts.answers import MOST, Unreadable, read
from wellkept.policy.facts.claims import Claim
from wellkept.policy.facts.evict import surplus
from wellkept.policy.facts.intent import is_small_talk, sentences, stated, states
from wellkept.policy.facts.labels import OTHER, carries, catalogue, clean
from wellkept.policy.facts.wish import named_by, wishes, without_wishes

FACTS = [
    Claim(text="User likes dogs"),
    Claim(text="用户名叫阿岚", labels=("姓名",), attribute="名字"),
    Claim(text="用户喜欢狗"),
    Claim(text="User dislikes cats"),
]


@pytest.mark.parametrize(
    ("message", "named"),
    [
        ("Please forget that I like dogs.", ["User likes dogs"]),
        ("忘了我的名字", ["用户名叫阿岚"]),
        ("把我喜欢狗这件事忘掉吧", ["用户喜欢狗"]),
        ("别记住我喜欢狗", ["用户喜欢狗"]),
        ("forget that I hate dogs", []),
        ("Delete everything you know about me", []),
        ("忘掉一切", []),
    ],
)
def test_a_wish_names_what_holds_all_its_words_and_never_everything(message: str, named: list[str]) -> None:
    [wish] = wishes(message)
    assert not wish.last
    assert [FACTS[at].text for at in named_by(wish.text, FACTS)] == named


@pytest.mark.parametrize("message", ["forget what I just said", "忘掉刚才说的", "Don't remember that"])
def test_a_wish_may_mean_what_was_said_last(message: str) -> None:
    [wish] = wishes(message)
    assert wish.last


@pytest.mark.parametrize(
    "message",
    [
        "don't forget to call mom",
        "别忘了带伞",
        "我忘了带钥匙",
        "I forgot my keys",
        "never forget I love cats",
    ],
)
def test_other_uses_of_the_word_are_no_wish(message: str) -> None:
    assert wishes(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "Please forget that I like dogs.",
        "Forget my address.",
        "Can you forget my address?",
        "Could you please delete my phone number?",
        "So please, forget what I said",
        "Don't remember that",
        "I want you to forget about the dogs",
        "忘了我喜欢狗吧",
        "把我喜欢狗这件事忘掉吧",
        "别记住我喜欢狗",
        "那个密码请彻底忘掉",
        "能不能把我的地址删掉？",
        "请你忘记我的生日",
        "麻烦删除我的手机号",
        "忘了我的名字",
        "忘掉刚才说的",
        "My PIN is 1234, forget that.",
        "Forget the dogs, I am allergic to nuts",
        "我对花生过敏，把我喜欢狗的事忘了吧",
        "you can delete my address now",
        "Stop remembering my birthday",
        "请不要记住我的生日",
        "Delete my old address please",
        "Hey, can you erase everything about my ex?",
        "把我的病史删掉",
        "请忘记我说过喜欢猫",
        "Actually, forget my nickname",
        "你可以把我的电话删了吗？",
        "麻烦你忘了我的年龄",
        "Would you please remove my birthday from memory?",
        "不用记我的住址",
        "I'd like you to forget my salary",
        "I'd like my address deleted",
        "I want my address deleted from your memory, please.",
        "Hi! I would like what I said about Tom forgotten.",
        "My address should be deleted, please.",
        "Please have my address removed from memory",
        "I don't want you to remember my address",
        "麻烦把我的住址删一下",
        "希望你能忘掉我的地址",
        "我希望我的地址能被删除",
        "我的地址可以删了",
        "我不想你记得我的地址",
    ],
)
def test_a_wish_is_an_order_or_a_request_to_the_assistant(message: str) -> None:
    assert len(wishes(message)) == 1


@pytest.mark.parametrize(
    "message",
    [
        "Did you forget that I like dogs?",
        "I always forget my dogs.",
        "I won't forget the dogs",
        "He wants to delete dogs",
        "你是不是忘了我喜欢狗？",
        "我从来不会忘记狗",
        "我对花生过敏，上次忘了带药。",
        "I always forget names, and I am allergic to peanuts.",
        "They had to remove my appendix in 2010. I am allergic to latex.",
        "忘了告诉你，我对花生过敏",
        "请不要忘记我喜欢狗",
        "别忘了我喜欢狗",
        "Never forget I love cats",
        "你会忘记我的狗吗？",
        "我把密码忘了",
        "他把照片删了",
        "他叫我别记这个",
        "Why did you delete my dogs?",
        "How could you forget my birthday?",
        "Please don't forget I like dogs",
        "千万别忘记我对花生过敏",
        "你忘了我喜欢狗吗？",
        "你忘了，我住在杭州。",
        "I had to erase the disk, I live in Oslo",
        "My doctor will remove my tonsils",
        "我不会忘记这些",
        "你怎么忘了我的名字",
        "你忘了我喜欢狗。",
        "你又忘了我的名字",
        "Don't let me forget my keys",
        "My grandmother forgets my name, I am her favourite",
        "What happens if you delete my data?",
        "她忘了我的生日",
        "我老是忘记吃药",
        "You never forget my birthday",
        "医生切除了我的阑尾",
        "我想删掉我的旧手机照片",
        "We should forget the past",
        "忘了说，我住在上海",
        "I'll delete my Facebook account",
        "Do you remember or forget my dogs?",
        "He wants his address deleted",
        "Was my address deleted?",
        "I had my address deleted at the bank",
        "My account should be deleted by Friday",
        "She said my account should be deleted",
        "I need my wisdom teeth removed",
        "I'd like a deleted scene",
        "他希望我的地址被删除",
        "我的照片可以删了再拍",
        "地址不用删了",
    ],
)
def test_a_question_a_denial_or_somebody_elses_is_no_wish(message: str) -> None:
    assert wishes(message) == []


@pytest.mark.parametrize(
    ("message", "rest"),
    [
        ("Forget the dogs, I am allergic to nuts", "I am allergic to nuts"),
        ("我对花生过敏，把我喜欢狗的事忘了吧", "我对花生过敏"),
        ("I live in Oslo. Please forget that I like dogs.", "I live in Oslo."),
        ("My PIN is 1234, forget that.", ""),
        ("那个密码，请彻底忘掉", ""),
        (
            "I live in Oslo. I'd like my phone number deleted. I have a dog.",
            "I live in Oslo. \n. I have a dog.",
        ),
    ],
)
def test_only_the_wish_is_left_out_of_what_was_said(message: str, rest: str) -> None:
    assert without_wishes(message).strip(" ,，\n") == rest


def test_questions_and_orders_state_nothing() -> None:
    text = "I like tea. Do I like tea? Please be brief. 你叫小白。我喜欢茶吗？我住在 3.5 公里外。"
    assert [states(sentence) for sentence in sentences(text)] == [True, False, False, False, False, True]


@pytest.mark.parametrize(
    "message",
    [
        "I am allergic to peanuts, what can I eat?",
        "我对花生过敏，能吃沙茶吗？",
        "As a vegetarian, what should I eat in Lyon?",
        "You got that wrong, I live in Oslo.",
        "你记错了，我住在杭州。",
        "You should know I am diabetic.",
        "请记住我对花生过敏",
        "帮我记一下，我对花生过敏",
        "您好，我对花生过敏",
        "Help, I am allergic to nuts",
        "Find me a restaurant, I am allergic to nuts.",
        "Correct, I am allergic to nuts.",
        "Always been a vegetarian.",
        "查理是我的儿子",
        "写代码是我的工作",
        "Always lived in Oslo.",
        "Will is my brother.",
        "What can I cook, I don't eat pork?",
        "请帮我订餐厅，我不吃猪肉",
        "推荐一家店，我们家有两个小孩",
        "您说得对，我是素食者",
        "翻译是我的职业",
        "Search engines are my job, how do I prepare?",
        "查尔斯住在伦敦",
        "Tell me a joke, I'm a nurse.",
        "Allergic to shellfish, is sushi ok?",
        "对海鲜过敏，可以吃寿司吗？",
        "Since I'm pregnant, can I drink coffee?",
        "Bob lives in Oslo, where should we meet?",
        "你要知道我怕狗",
        "你好，我叫小明",
        "谢谢，我住在北京",
        "Please note that my wife is vegan",
        "I've got celiac disease, any good bakeries nearby?",
        "Can you suggest a gift, my daughter turns six in May?",
        "No, you misunderstood, my name is Karin.",
        "Hi, I'm Tom and I work at Siemens",
        "Being lactose intolerant, which cheese can I have?",
        "Recommend a hike, we have a dog",
        "Just so you know I moved to Porto",
        "您搞错了，我姓陈不姓程",
        "作为糖尿病患者，我早餐该吃什么？",
        "麻烦推荐餐厅，我老婆不吃辣",
        "提醒一下，我下周要做手术",
        "你知道吗，我养了两只猫",
        "查一下天气，我在成都",
        "写小说是我的爱好",
        "帮我记住我的生日是5月3日",
        "俺是东北人，冬天去哪玩？",
        "As someone with asthma, should I run outside?",
        "Show me flats, I need three bedrooms",
        "Never eaten meat in my life.",
        "Art is my husband",
        "请注意，我有哮喘",
        "Given that I am left-handed, which mouse should I buy?",
        "I'm allergic to cats. Can you recommend pets?",
        "本人素食，求推荐",
    ],
)
def test_who_speaks_of_themselves_states_something(message: str) -> None:
    assert any(states(sentence) and not is_small_talk(sentence) for sentence in sentences(message))


@pytest.mark.parametrize(
    "message",
    [
        "What can I eat?",
        "我能吃什么？",
        "Good morning!",
        "你好",
        "您好！",
        "谢谢你",
        "Thanks a lot!",
        "Please translate this.",
        "Tell me a joke, please.",
        "OK, what about Oslo?",
        "If I go to Lyon, what should I eat?",
        "How are you?",
        "By the way, what is the capital of France?",
        "请给我写一首诗",
        "早上好，今天天气怎么样？",
        "请翻译：我对花生过敏",
        "Translate this: I am allergic to nuts",
        "帮我把这句话翻译成英文，我住在北京",
        "如果我去里昂，应该吃什么？",
        "Write a poem about cats, make it rhyme",
        "好的，谢谢！",
        "I have a question, what is a monad?",
        "我想问一下，怎么去机场？",
        "请记得提醒我买牛奶",
        'How do I say "I am allergic" in French?',
        "Can you help me?",
        "Sounds good, thanks!",
        "哈哈哈",
        "Which is better, tea or coffee?",
        "Would you mind explaining that?",
        "Good night!",
        "早安",
        "麻烦你帮我订张票",
        "What's the weather like in Oslo today?",
        "Hello there, how are you?",
        "可以告诉我几点了吗？",
        "再解释一遍",
        "ok thanks, bye",
        "为什么天空是蓝色的？",
        "Who won, Spain or France?",
        "Summarize: I am the walrus",
        "好的，明白了",
        "Could you repeat, please?",
    ],
)
def test_questions_orders_and_greetings_state_nothing(message: str) -> None:
    assert not any(states(part) and not is_small_talk(part) for part in sentences(message))


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("I am allergic to peanuts, what can I eat?", "I am allergic to peanuts"),
        ("What can I cook, I don't eat pork?", "I don't eat pork"),
        ("我对花生过敏，能吃沙茶吗？", "我对花生过敏"),
        ("I live in Oslo, or Bergen?", ""),
        ("I live in Oslo, is that right?", ""),
        ("I live in Oslo, don't I?", ""),
        ("我住在杭州，对吗？", ""),
        ("我住在杭州，还是苏州？", ""),
        ("我住在杭州，是不是？", ""),
    ],
)
def test_what_is_put_in_question_is_not_stated(sentence: str, part: str) -> None:
    assert stated(sentence) == part


def test_labels_are_whole_words_reused_and_few() -> None:
    given = [
        "food ",
        "Ｆｏｏｄ",
        "daily_routine",
        "memory",
        "偏好",
        "x" * 41,
        "",
        "<b>",
        "饮食",
        "pets",
        "more",
    ]
    assert clean(given, ["Food", "daily routine"]) == ("Food", "daily routine", "b")
    assert clean(["dietary_preferences", "dietary_preference_list"]) == (
        "dietary preferences",
        "dietary preference list",
    )


def test_the_catalogue_lists_each_label_once_in_order() -> None:
    facts = [Claim(text="a", labels=("food", "home")), Claim(text="b"), Claim(text="c", labels=("food",))]
    assert catalogue(facts) == ["food", "home", OTHER]
    assert catalogue([Claim(text="a", labels=("Drinks",)), Claim(text="b", labels=("drinks",))]) == ["Drinks"]
    assert carries(facts[0], ["HOME"])
    assert carries(facts[1], [OTHER])


@dataclass(frozen=True)
class Kept:
    pinned: bool
    uses: int
    changed_at: datetime


NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 50), st.integers(0, 500)), max_size=12),
    st.integers(1, 12),
)
def test_the_least_used_and_oldest_make_room_and_pinned_ones_stay(
    rows: list[tuple[bool, int, int]], limit: int
) -> None:
    facts = [Kept(pinned, uses, NOW - timedelta(hours=hours)) for pinned, uses, hours in rows]
    gone = surplus(facts, limit)
    free = [fact for fact in facts if not fact.pinned]
    assert len(gone) == min(len(free), max(0, len(facts) - limit))
    assert not any(fact.pinned for fact in gone)
    stay = list(free)
    for fact in gone:
        stay.remove(fact)

    def worth(fact: Kept) -> int:
        return 3 * fact.uses + int(fact.changed_at.timestamp()) // 3600

    assert not gone or not stay or max(map(worth, gone)) <= min(map(worth, stay))


ONE = {"intent": "replace", "memories": [{"content": "x", "quote": "y"}]}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ONE),
        f"<think>{{}} [] so</think>Sure:\n```json\n{json.dumps(ONE)}\n```\nbye }}",
        '{"intent": "replace", "memories": [{"content": "x", "quote": "y",},],}',
        'noise {"a": 1} {"intent": "replace", "memories": [{"content": "x", "quote": "y", "keywords": ["\\u12", "\\q"]}]}',
        '{"intent": "replace",\n"memories": [{"content": "x", "quote": "y", "note": "line\nbreak"}]}',
    ],
)  # fmt: skip
def test_an_answer_is_found_in_what_surrounds_it(text: str) -> None:
    answer = read(text)
    assert answer.intent == "replace"
    assert [(each.text, each.quote) for each in answer.proposals] == [("x", "y")]


@pytest.mark.parametrize(
    "text", ["", "no", "{}", "[]", '{"intent": "none"}', '{"memories": "none"}', "[1]", "{" * 5000]
)
def test_what_holds_no_answer_is_an_error_not_an_empty_list(text: str) -> None:
    with pytest.raises(Unreadable):
        read(text)


def test_what_has_the_wrong_shape_is_counted() -> None:
    items = [
        {"content": 5},
        "x",
        None,
        {"content": "a" * 5000},
        {"content": "ok", "labels": "a, b", "tags": 3, "quote": []},
    ]
    answer = read(json.dumps({"intent": "destroy", "memories": items}))
    assert answer.intent == "none"
    assert answer.unusable == 4
    assert answer.proposals[0].labels == ("a", "b")
    assert len(read(json.dumps({"memories": [{"content": "x"}] * 500})).proposals) == MOST


@given(st.text(alphabet='{}[]",:\\ax0中 \n', max_size=60))
def test_any_answer_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(Unreadable):
        read(text)
