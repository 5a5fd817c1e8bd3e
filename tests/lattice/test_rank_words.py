"""Messages of ranks by the functions of the kernels: two threads of a program are two ranks."""

import re

import pytest
from both_sides import ROOT, said

# Each rank has a window with mails alone, of two places, and a table. `first` is the number of
# messages that were sent before.
RANKS = """
#include <cstdio>
#include <cstring>
#include <sched.h>
#include <thread>
#include <time.h>
#define clock_gettime kernels_clock // declared there without the types of time.h
#include "ranks.h"
#undef clock_gettime
extern "C" int kernels_clock(int which, i64* out)
{
    timespec now;
    clock_gettime(which, &now);
    out[0] = now.tv_sec, out[1] = now.tv_nsec;
    return 0;
}

enum : u64 { PLACES = 3, WINDOW = MAIL_AT + 2 * 2 * PLACES * sizeof(rank_mail) };
alignas(16) static u8 windows[2][WINDOW];
static u8* window_list[2] = {windows[0], windows[1]};
static u64 sent[2][PLACES];
static rank_table tables[2];

static void pause() { sched_yield(); }
static const simt_api api = {sizeof(simt_api), 0, 0, 0, 0, 0, pause};

static void open(u64 first, u64 nanoseconds)
{
    simt = &api;
    memset(windows, 0, sizeof windows);
    for (u64 r = 0; r < 2; r++) {
        for (u64& number : sent[r]) number = first;
        tables[r] = rank_table{};
        tables[r].nanoseconds = nanoseconds;
        tables[r].rank = r;
        tables[r].ranks = tables[r].reached = 2;
        tables[r].mails = PLACES;
        tables[r].sums = sent[r];
        tables[r].mine = windows[r];
        tables[r].windows = window_list;
    }
}

// Numbers of a round and a rank; the second rank's are small beside the first's.
static f64 number_of(u64 round, u64 rank, u64 k)
{
    return (rank ? 1e-16 : 1.0) * (3.0 * round + k + 1);
}
static u64 wrong_sums(u64 rank, u64 rounds)
{
    u64 wrong = 0;
    for (u64 round = 0; round < rounds; round++) {
        const u64 place = round / 3 % PLACES;
        f64 value[MAIL_VALUES];
        for (u64 k = 0; k < MAIL_VALUES; k++) value[k] = number_of(round, rank, k);
        send_mail(tables[rank], place, value, MAIL_VALUES);
        if ((round + rank) % 7 == 0) sched_yield();
        receive_mail(tables[rank], place, value, MAIL_VALUES);
        for (u64 k = 0; k < MAIL_VALUES; k++)
            wrong += value[k] != number_of(round, 0, k) + number_of(round, 1, k);
    }
    return wrong;
}
"""
ROUNDS = """
int main()
{
    const u64 firsts[] = {0, 0x7ffffffeu, 0xfffffffeu, 0x17ffffffdu};
    for (u64 first : firsts) {
        u64 wrong[2];
        open(first, 5000000000u);
        std::thread other([&] { wrong[1] = wrong_sums(1, 3000); });
        wrong[0] = wrong_sums(0, 3000);
        other.join();
        printf("%llu %llu\\n", wrong[0], wrong[1]);
    }
}
"""
ALONE = """
int main()
{
    f64 value[2] = {1, 2};
    open(5, 30000000);
    send_mail(tables[1], 0, value, 1); // the second value is missing
    send_mail(tables[0], 0, value, 2);
    receive_mail(tables[0], 0, value, 2);
    printf("%g %d\\n", value[0], value[1] != value[1]);
    for (u8* window : windows) printf("%llx\\n", *failed_in(window));
    const u64 start = clock_nanoseconds(); // later waits end at once
    receive_mail(tables[0], 0, value, 2);
    printf("%d\\n", clock_nanoseconds() - start < 20000000);
}
"""
FOLDERS = ("kernels/dialect", "kernels/grid")


def test_sums_of_many_rounds(tmp_path):
    """Every sum is that of its round, also where numbers no longer fit their tags."""
    assert said(RANKS + ROUNDS, tmp_path / "rounds", *FOLDERS) == "0 0\n" * 4


def test_a_mail_that_does_not_come(tmp_path):
    reason = f"{2 << 48 | 0 << 24 | 1:x}\n"  # of rank 0, which waited for a sum of rank 1
    assert said(RANKS + ALONE, tmp_path / "alone", *FOLDERS) == f"2 1\n{reason}{reason}1\n"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (r"word >> 32 == tag_of\(number\)", "word >> 32 != 0"),  # any number will do
        (r"number % places_of", "0 % places_of"),  # one place: overwritten before it is read
    ],
)
def test_numbers_that_are_mixed_up_are_seen(tmp_path, right, wrong):
    header = (ROOT / "kernels/grid/ranks.h").read_text()
    broken, times = re.subn(right, wrong, header)
    assert times == 1
    (tmp_path / "ranks.h").write_text(broken)
    text = RANKS.replace('"ranks.h"', f'"{tmp_path / "ranks.h"}"') + ROUNDS
    text = text.replace("5000000000u", "200000000u")  # nanoseconds that ranks wait
    assert said(text, tmp_path / "rounds", *FOLDERS) != "0 0\n" * 4
