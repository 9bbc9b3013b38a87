"""Phone numbers and e-mail addresses are found however they are written; plain numbers and mentions pass."""

from __future__ import annotations

import pytest

from games.room.holding_back import what_is_held_back

PHONES = [
    "13812345678",
    "my number:138 1234 5678",
    "138-1234-5678 call me",
    "１３８１２３４５６７８",
    "１３８－１２３４－５６７８",
    "1 3 8 1 2 3 4 5 6 7 8",
    "138\u200b1234\u200b5678",
    "138 12345678",
    "+86 138 1234 5678",
    "+8613812345678",
    "8613812345678",
    "86-138-1234-5678",
    "我的电话是13812345678。",
    "我25岁 13812345678",
    "一三八一二三四五六七八",
    "幺三八 一二三四 五六七八",
    "abc13812345678",
    "+49 170 1234567",
    "+44 (0)20 7946 0958",
    "+1 (555) 234-5678",
    "(555) 234-5678",
    "555-234-5678",
    "555.234.5678",
    "5552345678",
    "1-555-234-5678",
    "0049 170 1234567",
    "00491701234567",
    "0170 1234567",
    "01701234567",
    "030 12345678",
    "010-12345678",
    "(010) 1234 5678",
    "06 12 34 56 78",
    "06.12.34.56.78",
    "٠١٧٠١٢٣٤٥٦٧",
    "whatsapp me 9123 4567",
    "phone: 555-1234",
    "微信 5551234",
    "+65 9123 4567",
]
EMAILS = [
    "jane@example.org",
    "JANE.DOE+x@sub.example.co.uk, write me",
    "jane @ example.org",
    "jane＠example．org",
    "jane (at) example.org",
    "jane[at]example[dot]org",
    "jane at example dot com",
    "jane at gmail.com",
    "jane@gmail",
    "我的邮箱是zhang@qq.com",
    "zhang艾特qq点com",
    "zhang@qq点com",
    "ja\u200bne@exam\u200bple.org",
]
PLAIN = [
    "",
    "hello",
    "We have 150 seconds",
    "in 1998, 2003 and 2019",
    "2019 2020 2021",
    "1998-2004",
    "1990-2000",
    "1990 2000 100",
    "2026-03-02 12:30:15",
    "02.03.2026, 12.30",
    "on 02.03.2026 12 people",
    "05-12-2026 10 30",
    "09.30 10.45 11.15",
    "score 3:2, then 10-9, then 21-19",
    "1 2 3 4 5 6 7 8 9 10 11 12",
    "1 3 5 7 9 11 13 15",
    "10 20 30 40 50 60",
    "08 09 10 11 12",
    "0 0 0 0 0 0 0 0 0 0",
    "0 1 2 3 4 5 6 7 8 9",
    "0123456789",
    "1234567890",
    "13 14 15 16 17 18 19",
    "1,000,000,000",
    "1000000000 people",
    "8000000000",
    "15000000000",
    "3.14159265358979",
    "1.0123456789",
    "150 1500 1500",
    "200 300 4000",
    "1500 1200 300",
    "192.168.100.200",
    "2+2=4, 3+12=15",
    "+1 from me",
    "+5 -3 +2",
    "call 911",
    "my phone is 3 years old, from 2019",
    "99999999999",
    "一二三四五六七八九十",
    "我一九九八年出生，二零二零年毕业",
    "hey @Birch. what do you think",
    "@Oak: no",
    "see you @ home",
    "I was at home. Then at work",
    "at the polka dot party",
    "meet at 10.30 at the cafe",
    "look at this dot.",
    "我@松树 你说呢",
]


@pytest.mark.parametrize("text", PHONES)
def test_phone_numbers_are_found(text: str) -> None:
    assert what_is_held_back(text) == "phone"
    assert what_is_held_back(f"So. {text}, ok?") == "phone"


@pytest.mark.parametrize("text", EMAILS)
def test_addresses_are_found(text: str) -> None:
    assert what_is_held_back(text) == "email"


@pytest.mark.parametrize("text", PLAIN)
def test_plain_numbers_and_mentions_pass(text: str) -> None:
    assert what_is_held_back(text) == ""
    assert what_is_held_back(f"Well, {text}, ok?") == ""
