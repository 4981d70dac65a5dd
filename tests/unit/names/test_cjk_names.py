"""Names where no capital marks them: titles, title marks, quotes and organisations."""

import pytest

from service.names.cjk_names import certain_names, possible_names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("어제 김민수 팀장이 왔다", [("김민수", "person")]),
        ("박서연님께", [("박서연", "person")]),
        ("请张伟经理和王小明先生来", [("张伟", "person"), ("王小明", "person")]),
        ("スミスさんと山田氏は", [("スミス", "person"), ("山田", "person")]),
        ("读《红楼梦》", [("红楼梦", "work")]),
        ("『吾輩は猫である』を読む", [("吾輩は猫である", "work")]),
    ],
)
def test_names_at_their_first_use(text: str, found: list[tuple[str, str]]) -> None:
    assert list(certain_names(text)) == found


@pytest.mark.parametrize(
    "text",
    ["정보팀 팀장", "고객사 대표님", "우리 사장님", "서울대 교수", "高级经理", "王先生", "金融经理",
     "患者さん", "お客様", "中国陈氏", "プリンさ", "no names", "《》"],
)  # fmt: skip
def test_offices_and_common_words_are_no_persons(text: str) -> None:
    assert list(certain_names(text)) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("「さくら荘」に泊まる", ["さくら荘"]),
        ("他说“你好，朋友。”", []),
        ("我们去了北京大学", ["北京大学"]),
        ("우리은행에서 서울대학교까지", ["우리은행", "서울대학교"]),
        ("株式会社東芝の人", ["東芝"]),
        ("大学和公司", []),
        ("一家石油公司与马可尼公司", ["马可尼公司"]),
    ],
)
def test_names_that_a_second_memory_confirms(text: str, found: list[str]) -> None:
    assert list(possible_names(text)) == found
