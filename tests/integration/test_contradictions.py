"""Statements that contradict each other: the newer one is current, or a person is asked; others stay untouched."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wellkept import Memory
from wellkept.user import UserMemory

# A pair a line: what was said first | what is said later.
REPLACED = """
用户对花生过敏|用户对花生不过敏
用户有糖尿病|用户没有糖尿病
用户有孩子|用户没有孩子
用户能吃辣|用户吃不了辣
用户在腾讯工作|用户在阿里工作
用户在字节上班|用户在百度上班
The user works at Google|The user works at Apple
The user lives in Berlin|The user moved to Munich
用户结婚了|用户离婚了
The user is married|The user is divorced
The user is single|The user got married
Alice is single|Alice is married
用户单身|用户已婚
用户对海鲜过敏|用户不再对海鲜过敏
用户会开车|用户不会开车
用户会游泳|用户不会游泳了
用户养猫|用户不养猫了
用户喝酒|用户戒酒了
用户抽烟|用户戒烟了
用户有女朋友|用户没有女朋友
用户有房贷|用户没房贷了
用户住在北京|用户搬去了上海
用户现在住在广州|用户定居深圳
用户在北大读书|用户在清华读书
用户今年30岁|用户31岁了
用户的手机号是13800001111|用户的手机号换成了13900002222
用户的邮箱是a@b.com|用户邮箱改为c@d.org
用户的妻子在华为工作|用户的妻子在小米上班
用户的妈妈住在上海|用户的妈妈搬到了杭州
用户失业了|用户在美团上班
用户在腾讯工作|用户不在腾讯工作了
用户在腾讯工作|用户从腾讯离职了
用户不吃香菜|用户吃香菜
用户是素食者|用户不是素食者
用户听得懂粤语|用户听不懂粤语
用户看得见|用户看不见
用户的职业是护士|用户的职业是教师
用户的女儿上三年级|用户的女儿上四年级
用户会说法语|用户说不了法语
The user has diabetes|The user does not have diabetes
The user has kids|The user has no kids
The user can eat spicy food|The user can't eat spicy food
The user eats meat|The user no longer eats meat
The user can drive|The user cannot drive
The user is allergic to nuts|The user is no longer allergic to nuts
The user is allergic to shellfish|The user has no shellfish allergy
The user smokes|The user quit smoking
The user drinks coffee|The user stopped drinking coffee
The user is employed at Siemens|The user works for Bosch
The user is 30 years old|The user turned 31
The user is 30|The user is 31
The user's phone number is 555-123-4567|The user's new phone number is 555-987-6543
The user's email is a@b.com|The user's email address is c@d.org
The user studies at MIT|The user studies at Stanford
The user's wife works at Google|The user's wife works at Meta
The user's mother lives in Rome|The user's mother moved to Milan
The user has a girlfriend|The user is single
The user is engaged|The user got married in 2026
The user works as a nurse|The user works as a teacher
The user was born in 1990|The user was born in 1991
The user's birthday is May 3|The user's birthday is June 3
The user works at Google|The user is unemployed
The user lives in Berlin|The user relocated to Vienna
The user has a car|The user doesn't have a car
The user owns a house|The user doesn't own a house any more
The user is vegan|The user is not vegan anymore
Lives in Berlin|Moved to Munich
I live in Paris|I live in Lyon
My name is Tom|My name is Bob
我住在北京|我搬到上海了
我在腾讯上班|我跳槽到阿里了
用户怕狗|用户不怕狗了
用户戴眼镜|用户不戴眼镜
用户打呼噜|用户不打呼噜
用户有哮喘|用户没有哮喘了
用户有驾照|用户没有驾照
用户有对象|用户没对象
用户信佛|用户不信佛
用户喝得了白酒|用户喝不了白酒
用户能喝牛奶|用户喝不了牛奶
用户爬得动山|用户爬不动山
用户可以吃海鲜|用户不能吃海鲜
用户看得懂日文|用户看不懂日文
用户在北京住|用户搬去成都了
用户家在杭州|用户搬到宁波
用户住在朝阳区|用户现居海淀区
用户在华为上班|用户在中兴任职
用户就职于网易|用户跳槽到字节
用户在一家银行工作|用户在一家医院上班
用户未婚|用户已婚
用户已婚|用户离异
用户单身|用户订婚了
用户今年四十五岁|用户46岁
用户的生日是5月3日|用户的生日是6月3日
用户的邮箱是x@y.cn|用户的邮箱是z@y.cn
用户身高175cm|用户身高176cm
用户体重70公斤|用户体重65公斤
用户的老婆在医院工作|用户的老婆在学校上班
用户的职位是经理|用户的职位是总监
用户在人民大学读书|用户在复旦大学读书
用户血型是A型|用户血型是O型
用户的爸爸68岁|用户的爸爸69岁
用户最喜欢的颜色是蓝色|用户最喜欢的颜色是绿色
用户名叫李雷|用户改名叫李磊
用户在阿里做产品经理|用户在美团做产品经理
用户待业|用户在滴滴工作
用户喜欢跑步|用户不喜欢跑步了
用户吃素|用户不吃素了
The user wears glasses|The user doesn't wear glasses anymore
The user has asthma|The user doesn't have asthma
The user has a driver's license|The user has no driver's license
The user can swim|The user can't swim
The user is able to eat gluten|The user is not able to eat gluten
The user is afraid of dogs|The user is not afraid of dogs any more
The user eats gluten|The user cannot eat gluten
The user is lactose intolerant|The user is not lactose intolerant
The user believes in God|The user doesn't believe in God
The user owns a boat|The user no longer owns a boat
The user lives in Chicago|The user has moved to Boston
The user resides in Madrid|The user lives in Valencia
The user is based in Tokyo|The user is based in Osaka
The user works for IBM|The user now works at Oracle
The user works at a bank|The user works at a hospital
The user has a job at Tesla|The user works for Ford
The user is employed by Shell|The user works at BP
The user works at Google|The user retired
The user is widowed|The user remarried
The user is married|The user got divorced
The user is single|The user is in a relationship
The user is 44 years old|The user is 45 years old
The user's job title is analyst|The user's job title is manager
The user's husband works at Intel|The user's husband works for AMD
The user's dad is 70 years old|The user's dad is 71 years old
The user's boss is named Ann|The user's boss is called Joe
The user's favorite color is blue|The user's favorite color is green
The user studies at Yale|The user is a student at Brown
The user weighs 70 kg|The user weighs 65 kg
The user is 180 cm tall|The user is 181 cm tall
Works at Adobe|Works at Figma
I work at Adobe|I work at Figma
I'm married|I'm divorced
我有孩子|我没孩子
我离婚了|我再婚了
我在上海工作|我在深圳工作
The user's wife's name is Anna|The user's wife is called Eva
The user is left-handed|The user is not left-handed
The user speaks Dutch|The user doesn't speak Dutch
The user's car is a Volvo|The user's car is not a Volvo
用户养了一只猫|用户没有养猫
The user has a peanut allergy|The user is not allergic to peanuts
The user drinks alcohol|The user does not drink alcohol
用户在杭州上班|用户在苏州上班
用户对海鲜过敏|用户对海鲜不过敏
用户对乳糖不耐受|用户对乳糖耐受
用户有高血压|用户没有高血压
用户有车|用户没有车
用户有弟弟|用户没有弟弟
用户喝得惯豆汁|用户喝不惯豆汁
用户吃得了苦瓜|用户吃不了苦瓜
用户在网易工作|用户在小米工作
用户在中学教书|用户在大学教书
用户在律所上班|用户在银行上班
用户供职于华为|用户供职于荣耀
用户单身|用户恋爱中
用户结婚了|用户丧偶
用户离婚了|用户复婚了
用户住天津|用户住武汉
用户住在三楼|用户住在五楼
用户搬到了成都|用户搬到了昆明
用户现在住杭州|用户目前住宁波
用户的电话是010-62345678|用户的电话是010-62345679
用户的职业是医生|用户的职业是律师
用户今年28岁|用户今年29岁
用户生于1990年|用户生于1991年
用户的年龄是30|用户的年龄是31
用户的先生在学校工作|用户的先生在医院工作
用户的岳母住在青岛|用户的岳母住在烟台
用户信教|用户不信教
用户是会员|用户不是会员
用户用苹果手机|用户不用苹果手机
用户能喝酒|用户不能喝酒
用户可以加班|用户不可以加班
用户认识李雷|用户不认识李雷
用户同意离婚|用户不同意离婚
用户在读研|用户不在读研了
用户在备孕|用户没在备孕
The user has a peanut allergy|The user has no peanut allergy
The user is pregnant|The user is not pregnant
The user has siblings|The user doesn't have any siblings
The user eats fish|The user doesn't eat fish
The user can cook|The user can't cook
The user tolerates lactose|The user doesn't tolerate lactose
The user works at Netflix|The user works at Spotify
The user works for the city|The user works for the state
The user is employed at Bosch|The user is employed at Siemens
The user's employer is Nokia|The user's employer is Ericsson
The user lives in Texas|The user lives in Ohio
The user moved to Kyoto|The user moved to Osaka
The user's home is in Lima|The user's home is in Quito
The user is single|The user is engaged
The user is married|The user is separated
The user got engaged|The user got married
The user is 52|The user is 53
The user is aged 40|The user is aged 41
The user's age is 25|The user's age is 26
The user's phone is 555-0100-22|The user's phone is 555-0199-33
The user's name is Kim|The user's name is Lee
The user goes by Max|The user goes by Sam
The user's birthday is on June 1|The user's birthday is on July 1
The user works as a pilot|The user works as an instructor
The user's role is CTO|The user's role is CEO
The user's dad lives in Porto|The user's dad lives in Lisbon
The user's wife works at Zara|The user's wife works at Mango
The user attends church|The user does not attend church
The user knows Python|The user doesn't know Python
The user plays tennis|The user no longer plays tennis
The user is a smoker|The user is not a smoker
The user is religious|The user is not religious
"""
BOTH = """
The user likes coffee|The user likes tea
用户会英语|用户会法语
用户有一只猫|用户有一只狗
The user works at Google|The user studies at MIT
用户喜欢咖啡|用户喜欢茶
用户对花生过敏|用户对芒果过敏
The user is allergic to nuts|The user is allergic to eggs
The user lives in Berlin|The user works in Berlin
The user lives in Berlin|The user's parents live in Rome
用户在北京工作|用户在腾讯工作
用户住在北京|用户在上海工作
用户喜欢孩子|用户没有孩子
用户有孩子|用户不喜欢孩子
The user has a dog named Rex|The user has a dog named Max
用户有一只狗叫旺财|用户有一只狗叫来福
The user works at Google|The user works from home
用户在腾讯工作|用户在家工作
用户在腾讯工作|用户在公园做运动
用户的爸爸在腾讯工作|用户在阿里工作
The user works at Google|The user's wife works at Apple
The user speaks German|The user speaks French
用户不吃牛肉|用户吃羊肉
The user doesn't drink coffee|The user drinks tea
The user works at Google|The user used to work at Apple
The user lives in Berlin|The user wants to move to Oslo
用户住在北京|用户想搬到上海
用户住在北京|用户准备搬到上海
用户住在北京|用户曾住在南京
用户住在北京|用户住院了
用户叫小明|用户爱叫外卖
The user's phone is an iPhone 12|The user's phone number is 555-123-4567
用户手机是小米14|用户手机号是13800001111
The user is married|The user was married before
The user has a brother who works at Google|The user works at Apple
用户喜欢喝酒|用户养狗
The user was born in 1990|The user was born in Paris
The user likes dogs|The user does not have dogs
用户会做饭|用户不做家务
The user works at Google|The user also works at a bakery on weekends
用户在腾讯工作|用户还在一家咖啡店兼职
用户出生在北京|用户生日是5月3日
The user plays chess on Mondays|The user does not play chess on Sundays
用户周一上班|用户周日不上班
用户2019年去过日本|用户没去过韩国
The user has been to Japan|The user has never been to Korea
用户喜欢住在海边|用户住在北京
The user's name is Tom|The user's dog is named Rex
The user moved a piano|The user lives in Berlin
The user runs 5 km a day|The user owns 5 bikes
用户喜欢北京|用户住在北京
用户住在北京|用户的公司在上海
用户会弹钢琴|用户会拉小提琴
用户怕狗|用户怕蛇
用户有哮喘|用户有糖尿病
用户有一个儿子|用户有一个女儿
用户去过日本|用户去过韩国
用户不吃猪肉|用户吃鸡肉
用户爱吃辣|用户爱吃甜
用户在学做饭|用户在腾讯工作
用户在减肥|用户在阿里工作
用户5岁开始学钢琴|用户31岁
用户叫小明|用户的狗叫小黑
用户的妈妈叫李芳|用户的姐姐叫李丽
用户的哥哥结婚了|用户单身
用户的朋友离婚了|用户已婚
用户不喜欢加班|用户在腾讯上班
用户打算跳槽|用户在腾讯工作
用户想换工作|用户在腾讯工作
用户每天7点上班|用户每天8点吃早饭
用户周一去健身房|用户周三去健身房
用户住过上海|用户住在北京
用户老家在四川|用户住在北京
用户出生在杭州|用户住在上海
用户的手机是华为|用户的手机号是13812345678
用户没结婚|用户没孩子
用户没有猫|用户有狗
用户搬家那天下雨|用户住在北京
用户有两只猫|用户有三条狗
用户每周跑3次步|用户每周游2次泳
用户结婚纪念日是5月20日|用户已婚
The user likes Berlin|The user lives in Berlin
The user plays piano|The user plays violin
The user is afraid of dogs|The user is afraid of snakes
The user has asthma|The user has diabetes
The user has a son|The user has a daughter
The user has been to Japan|The user has been to Korea
The user doesn't eat pork|The user eats chicken
The user lives in Oslo|The user's office is in Bergen
The user works at Google|The user works out every morning
The user works at Google|The user works on a novel
The user works at Google|The user works with Tom
The user works from home|The user works at Google
The user is from Texas|The user lives in Boston
The user started piano at age 5|The user is 31 years old
The user's sister is married|The user is single
The user's friend is divorced|The user is married
The user's name is Tom|The user's boss is named Ann
The user's mother is named Ann|The user's sister is named Sue
The user hopes to move to Spain|The user lives in Oslo
The user is considering a job at Apple|The user works at Google
The user interviewed at Apple|The user works at Google
The user grew up in Rome|The user lives in Oslo
The user moved the meeting to Friday|The user lives in Oslo
The user moved to a new team|The user lives in Oslo
The user volunteers at a shelter|The user works at Google
The user has no cats|The user has dogs
The user owns a house in Spain|The user lives in Oslo
The user runs on Mondays|The user swims on Fridays
The user likes to live in the city|The user lives in Oslo
The user is single-minded|The user is married
The user called Tom yesterday|The user's name is Bob
The user is engaged in politics|The user is married
The user's wedding is on May 3|The user's birthday is June 3
The user is learning German|The user is learning French
The user invests in Apple|The user works at Google
The user worked at Apple in 2010|The user works at Google
The user lived in Rome for 3 years|The user lives in Oslo
用户在腾讯工作过3年|用户在阿里工作
用户曾在腾讯工作|用户在阿里工作
用户住在北京的时候养过狗|用户住在上海
The user has a meeting at Google|The user works at Apple
The user left Google in 2020|The user works at Apple
The user takes aspirin|The user takes ibuprofen
用户的儿子在上海工作|用户在北京工作
The user's son lives in Paris|The user's daughter lives in Rome
用户会做川菜|用户会做粤菜
用户学过钢琴|用户学过小提琴
用户去过北京|用户住在北京
用户喜欢上海|用户在上海工作
用户在准备考研|用户在准备结婚
用户在上海读书|用户在一家餐厅打工
用户有一辆车|用户有一套房
用户对花粉过敏|用户对猫毛过敏
用户讨厌香菜|用户讨厌榴莲
用户的爸爸是医生|用户的妈妈是老师
用户的儿子叫小明|用户的女儿叫小红
用户的哥哥在北京|用户的姐姐在上海
用户每天跑步|用户每周游泳
用户住在北京|用户的爸妈住在老家
用户在腾讯工作|用户在考虑跳槽
用户读过红楼梦|用户读过三国
用户会开车|用户没有车
用户不喝酒|用户不抽烟
用户喜欢喝酒|用户不喜欢抽烟
用户叫小明|用户的英文名叫Tom
用户住在北京|用户在上海有房
用户的生日是5月3日|用户的妻子生日是6月3日
用户是护士|用户是素食者
用户身高175|用户体重70
用户周一开会|用户周二开会
用户5点起床|用户11点睡觉
用户结婚10年|用户有2个孩子
The user can cook Thai food|The user can cook Indian food
The user studied in Rome|The user lives in Oslo
The user is from Peru|The user lives in Chile
The user loves Tokyo|The user lives in Kyoto
The user has a car|The user has a bike
The user hates cilantro|The user hates durian
The user's father is a doctor|The user's mother is a teacher
The user's son is named Max|The user's daughter is named Mia
The user doesn't drink|The user doesn't smoke
The user likes wine|The user doesn't like beer
The user visited Spain|The user visited Italy
The user works at Ford|The user drives a Ford
The user works at night|The user works at Ford
The user lives alone|The user lives in Oslo
The user lives with two cats|The user lives in Oslo
The user's name is Kim|The user's nickname is Kimmy
The user is a nurse|The user is a vegan
The user is 170 cm tall|The user weighs 60 kg
The user wakes up at 6|The user goes to bed at 11
The user wants to get married|The user is single
The user is allergic to cats|The user has a cat
The user can drive|The user has no car
The user reads sci-fi|The user reads poetry
The user's office is on 5th Street|The user lives on Main Street
The user is married to Tom|The user has two kids
The user was married in 2010|The user is divorced
The user quit Google|The user works at Apple
The user plays in a band|The user works at Ford
"""
ASKED = """
用户有一个5岁的儿子|用户有一个3岁的儿子
The user has a 5-year-old son|The user has a 3-year-old son
用户的儿子5岁|用户的儿子3岁
用户住在北京对花生过敏|用户住在上海
用户叫小明住在北京|用户叫小红
The user lives in Berlin works at Google|The user lives in Munich
用户有两个孩子|用户有三个孩子
The user has 2 cats|The user has 3 cats
The user's friend lives in Rome|The user's friend lives in Milan
用户的朋友在腾讯工作|用户的朋友在阿里工作
用户住在北京养了两只猫|用户住在上海
用户在腾讯上班会弹钢琴|用户在阿里上班
The user is vegan|The user used to be vegan
用户抽烟|用户以前抽烟
用户是一名护士|用户是一名教师
用户的女儿8岁|用户的女儿3岁
用户的弟弟在上海工作|用户的弟弟在北京工作
用户的同学在腾讯上班|用户的同学在阿里上班
用户有三辆车|用户有两辆车
用户住在北京喜欢爬山|用户住在上海
用户在腾讯工作住在深圳|用户在阿里工作
用户住在杭州是左撇子|用户住在南京
用户30岁有两个孩子|用户31岁
用户结婚了有一个女儿|用户离婚了
用户在阿里上班对海鲜过敏|用户在京东上班
用户是一名教师|用户是一名画家
The user has 3 bikes|The user has 2 bikes
The user's daughter is 8 years old|The user's daughter is 3 years old
The user's brother works at IBM|The user's brother works at SAP
The user lives in Rome has two cats|The user lives in Milan
The user works at Google speaks German|The user works at Apple
The user is a nurse|The user is a teacher
The user's cat is named Milo|The user's cat is named Luna
用户的猫叫咪咪|用户的猫叫花花
The user smokes|The user used to smoke
用户喝酒|用户以前喝酒
The user lives in Oslo allergic to nuts|The user lives in Rome
I live with my parents in Oslo|I live in Bergen
用户是产品经理|用户是产品总监
The user is a manager at Dell|The user is a manager at HP
用户的朋友住在上海|用户的朋友住在广州
用户有一只狗叫旺财今年3岁|用户有一只狗叫旺财今年8岁
用户在阿里工作喜欢篮球|用户在网易工作
用户有两套房|用户有三套房
The user's friend works at Ford|The user's friend works at Fiat
The user has 4 horses|The user has 5 horses
The user lives in Oslo plays chess|The user lives in Bergen
The user's kid is 9 years old|The user's kid is 4 years old
"""


def pairs(text: str) -> list[list[str]]:
    return [line.split("|") for line in text.strip().splitlines()]


@pytest.fixture
def alice() -> Iterator[UserMemory]:
    with Memory(":memory:", worker=False) as memory:
        yield memory.user("alice", namespace="acme")


def tell(alice: UserMemory, *texts: str, attribute: str = "") -> UserMemory:
    for text in texts:
        alice.keep(text, attribute=attribute)
    return alice


def current(alice: UserMemory) -> list[str]:
    return [fact.text for fact in alice.get_all()]


@pytest.mark.parametrize(("old", "new"), pairs(REPLACED))
def test_the_newer_of_two_that_contradict_is_current_and_the_older_is_history(
    alice: UserMemory, old: str, new: str
) -> None:
    tell(alice, old, new)
    assert (current(alice), alice.review()) == ([new], [])
    [retired] = alice.get_all(states=["retired"])
    assert (retired.text, retired.superseded_by) == (old, alice.get_all().results[0].id)


@pytest.mark.parametrize(("one", "other"), [*pairs(BOTH), *(pair[::-1] for pair in pairs(BOTH))])
def test_what_does_not_contradict_stays_without_a_question(alice: UserMemory, one: str, other: str) -> None:
    tell(alice, one, other)
    assert (current(alice), alice.review()) == ([one, other], [])


@pytest.mark.parametrize(("old", "new"), pairs(ASKED))
def test_what_may_contradict_is_asked_about(alice: UserMemory, old: str, new: str) -> None:
    tell(alice, old, new)
    assert current(alice) == [old, new]
    [doubt] = alice.review()
    alice.settle(doubt.id, accept=True)
    assert current(alice) == [new]


BY_KEY = [
    ("employer", ["Google", "Apple"], ["Apple"]),
    ("employer", ["The user works at Google", "Apple"], ["Apple"]),
    ("hobby", ["chess", "go"], ["chess", "go"]),
    ("language", ["German", "French"], ["German", "French"]),
    (
        "home",
        ["Lives in Oslo", "The user's wife lives in Rome"],
        ["Lives in Oslo", "The user's wife lives in Rome"],
    ),
]


@pytest.mark.parametrize(("attribute", "said", "left"), BY_KEY)
def test_a_key_that_has_one_value_at_a_time_is_enough_when_it_is_given_by_hand(
    alice: UserMemory, attribute: str, said: list[str], left: list[str]
) -> None:
    assert current(tell(alice, *said, attribute=attribute)) == left


def test_subjects_are_kept_apart(alice: UserMemory) -> None:
    for name in ("Tom", "Ann"):
        alice.keep(f"{name} works at {name}'s Diner", subject=name, attribute="employer")
    assert len(current(alice)) == 2
