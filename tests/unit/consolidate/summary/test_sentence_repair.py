"""Sentences of notes: nothing torn that belongs together, nothing missed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.consolidate.summary.sentence_repair import whole_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Deployed v1.2.3.", "It works."],
        ["Version 2.0.1-rc.1 is out.", "5070 of them arrived."],
        ["Edit config.yaml.", "Then src/app.py.", "Then restart."],
        ["See README.md.", "Fixed bug #12."],
        ["J. K. Rowling wrote it.", "Mr. Kim agreed.", "Dr. Lee too."],
        ["Use approx. 5 GB of VRAM.", "Then stop."],
        ["See Fig. 3 and No. 5 vs. No. 6, resp. the others.", "Done."],
        ["Max. 5 min. per run, est. 3 hrs. in all.", "Total incl. Tax."],
        ["Use tools, e.g. Docker, i.e. containers.", "Not more."],
        ["Backup ok.", "Restarted the server.", "Is it slow?", "No.", "Nothing to do."],
        ["It took 5 min.", "Logs, configs etc. were kept.", "Fixed the id.", "Deployed it in May."],
        ["See no. A12 and sec. B2, by Capt. Nemo, etc.", "Restarted it."],
        ["Open https://example.com/a?b=c.d!e.", "Then log in.", "Really?", "Yes!"],
        ["Run `a. B. C` now.", "Then `x? Y`.", "Ok."],
        ["It costs $5.99.", "The 2.4 GHz band is full."],
        ["**Decision.** We use Redis.", "**Because.** It is fast."],
        ["He said it *loud.*", "Then he left."],
        ["1. First point.", "2. Second point."],
        ["Node.js is used.", ".NET works."],
        ["서버를 재시작했다.", "메모리는 11.2GB다!", "v1.2.3 배포함."],
        ["我们决定用Redis。", "缓存在10.2版本！", "好吗？", "是的。"],
        ["「面白い。」", "次へ。"],
        ["مرحبا بالعالم.", "كيف حالك؟", "أنا بخير."],
        ["यह एक वाक्य है।", "यह दूसरा है।"],
        ["สวัสดีครับ ผมชื่อสมชาย วันนี้อากาศดี"],
    ],
)
def test_sentences_are_whole(sentences: list[str]) -> None:
    found = [sentence.strip() for sentence in whole_sentences(" ".join(sentences))]
    assert found == sentences


def test_no_blank_is_needed_where_none_is_written() -> None:
    assert whole_sentences("다시 시작했다.메모리 부족.") == ["다시 시작했다.", "메모리 부족."]
    assert whole_sentences("我喜欢猫。你呢?我也是!") == ["我喜欢猫。", "你呢?", "我也是!"]


@given(
    st.lists(st.sampled_from(["a. ", "B", ".", " ", "`", "**", "1. ", "vs. ", "가.", "。", "\n"]))
)
def test_the_sentences_are_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    assert "".join(whole_sentences(text)) == text
