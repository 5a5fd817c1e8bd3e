"""Messages of ranks by the functions of the kernels: two threads of a program are two ranks."""

import pytest
from both_sides import ROOT, said

# Each rank has a window, with two places of mails and faces, and a table. The other one is behind
# both of its faces. `first` is the number of messages that were sent before.
RANKS = """
#define TUNE_LX 4
#define TUNE_LY 2
#define TUNE_LZ 2
#define TUNE_LT 4
#define TUNE_CUT 8
#define TUNE_STAGED 0
#include <cstdio>
#include <cstring>
#include <sched.h>
#include <thread>
#include <time.h>
#define clock_gettime kernels_clock // declared there without the types of time.h
#include "face_memory.h"
#undef clock_gettime
extern "C" int kernels_clock(int which, i64* out)
{
    timespec now;
    clock_gettime(which, &now);
    out[0] = now.tv_sec, out[1] = now.tv_nsec;
    return 0;
}

enum : u64 {
    PLACES = 3,
    SLOT = 1024,
    SLOTS_AT = MAIL_AT + 2 * 2 * PLACES * sizeof(rank_mail),
    WINDOW = SLOTS_AT + 2 * RANK_SLOTS * SLOT
};
alignas(16) static u8 windows[2][WINDOW];
static u8* window_list[2] = {windows[0], windows[1]};
static u64 sent[2][PLACES];
static rank_table tables[2];

static thread_local u64 pauses;
static void pause() { pauses++, sched_yield(); }
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
        tables[r].slots_at = SLOTS_AT;
        tables[r].slot_bytes = SLOT;
        tables[r].sent = first;
        tables[r].mine = windows[r];
        for (u8*& neighbour : tables[r].neighbour) neighbour = windows[1 - r];
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

// Faces of f32 with norms and of f64 without, which lie in the same memory.
template <class Real, int REALS>
static u64 wrong_faces(rank_table& t, u64 round)
{
    u64 wrong = 0;
    const auto real = [&](u64 rank, u32 upper, u32 place, u32 k) {
        return static_cast<Real>((100 * round + 50 * rank + 25 * upper + place) % 4093 + 0.01 * k);
    };
    for (u32 upper = 0; upper < 2; upper++) {
        const auto to = face_to<Real, REALS, TIME>(t, upper, number_sent_now(t));
        for (u32 place = 0; place < to.sites; place++) {
            Real v[REALS];
            for (u32 k = 0; k < REALS; k++) v[k] = real(t.rank, upper, place, k);
            to.store(0, place, v);
            if (sizeof(Real) == 4) to.store_norm(0, place, real(t.rank, upper, place, 77));
        }
    }
    if ((round + t.rank) % 7 == 0) sched_yield();
    for (u32 upper = 0; upper < 2; upper++) { // what the other rank has sent to its other side
        const auto from = face_from<Real, REALS, TIME>(t, upper, number_sent_now(t));
        for (u32 place = 0; place < from.sites; place++) {
            Real v[REALS];
            f32 norm = real(1 - t.rank, 1 - upper, place, 77);
            if (sizeof(Real) == 4)
                from.load(0, place, v, norm);
            else
                from.load(0, place, v);
            for (u32 k = 0; k < REALS; k++) wrong += v[k] != real(1 - t.rank, 1 - upper, place, k);
            wrong += norm != static_cast<f32>(real(1 - t.rank, 1 - upper, place, 77));
        }
    }
    count_block(t, 1);
    return wrong;
}
static u64 wrong_faces(u64 rank, u64 rounds)
{
    u64 wrong = 0;
    for (u64 round = 0; round < rounds; round++)
        wrong += round % 5 < 3 ? wrong_faces<f32, 12>(tables[rank], round)
                               : wrong_faces<f64, 6>(tables[rank], round);
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
        std::thread other([&] { wrong[1] = wrong_messages(1, 3000); });
        wrong[0] = wrong_messages(0, 3000);
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
    pauses = 0; // later waits end at once: a thread has one for each site on a face
    receive_mail(tables[0], 0, value, 2);
    printf("%llu\\n", pauses);
}
"""
FOLDERS = tuple(f"kernels/{folder}" for folder in ("dialect", "grid", "lattice"))
RIGHT = "0 0\n" * 4
MESSAGES = ("wrong_sums", "wrong_faces")


@pytest.mark.parametrize("messages", MESSAGES)
def test_many_rounds(tmp_path, messages):
    """All that comes is of its round, also where numbers no longer fit their tags."""
    text = (RANKS + ROUNDS).replace("wrong_messages", messages)
    assert said(text, tmp_path / "rounds", *FOLDERS) == RIGHT


def test_a_mail_that_does_not_come(tmp_path):
    reason = f"{2 << 48 | 0 << 24 | 1:x}\n"  # of rank 0, which waited for a sum of rank 1
    assert said(RANKS + ALONE, tmp_path / "alone", *FOLDERS) == f"2 1\n{reason}{reason}0\n"


@pytest.mark.parametrize(
    ("messages", "file", "right", "wrong"),
    [
        # Any number will do.
        ("wrong_sums", "grid/ranks.h", "word >> 32 == tag_of(number)", "word >> 32 != 0"),
        ("wrong_faces", "grid/ranks.h", "word >> 32 == tag_of(number)", "word >> 32 != 0"),
        # One place, which is overwritten before it is read.
        ("wrong_sums", "grid/ranks.h", "number % places_of", "0 % places_of"),
        ("wrong_faces", "lattice/face_memory.h", "staged ? 0 : number % 2", "0"),
    ],
)
def test_numbers_that_are_mixed_up_are_seen(tmp_path, messages, file, right, wrong):
    header = (ROOT / "kernels" / file).read_text()
    assert header.count(right) == 1
    name = file.split("/")[1]
    (tmp_path / name).write_text(header.replace(right, wrong))
    text = (RANKS + ROUNDS).replace("wrong_messages", messages).replace("3000", "600")
    text = text.replace("5000000000u", "200000000u")  # nanoseconds that ranks wait
    assert said(text, tmp_path / "rounds", tmp_path, *FOLDERS) != RIGHT
