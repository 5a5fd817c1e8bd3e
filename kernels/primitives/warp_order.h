// Order of a warp's items by key and index, for the top-k of short segments and of short lists.
//
// Each lane holds N items in registers, and the warp orders them by a bitonic network. Steps within
// a lane's items need no exchange. Every step puts the lower item first, because a merge begins by
// comparing its two halves in opposite directions. No two items agree in both members.
#pragma once
#include "warp.h"

template <class K, class I>
struct keyed_item {
    K key;
    I index;
};
template <class K, class I>
FUNCTION bool goes_first(const keyed_item<K, I>& a, const keyed_item<K, I>& b)
{
    const bool tie = (a.key == b.key) & (a.index < b.index); // no branches
    return (a.key < b.key) | tie;
}

template <class Item>
FUNCTION void order_two(Item& first, Item& second)
{
    const bool swap = goes_first(second, first);
    const Item low = swap ? second : first;
    second = swap ? first : second;
    first = low;
}

// Compares with the items of lane `lane_id() ^ mask`, the other way round if REVERSED, and keeps
// the lower ones in the lower lane.
template <bool REVERSED, int N, class Item>
FUNCTION void order_two_lanes(Item (&item)[N], u32 mask)
{
    const u32 lane = lane_id() ^ mask;
    const bool upper = lane_id() > lane;
    Item other[N];
    UNROLL
    for (int j = 0; j < N; j++)
        other[j] = Item{warp_shuffle(item[j].key, lane), warp_shuffle(item[j].index, lane)};
    UNROLL
    for (int j = 0; j < N; j++) {
        const Item& its = other[REVERSED ? N - 1 - j : j];
        const bool take = goes_first(its, item[j]) ^ upper;
        item[j].key = take ? its.key : item[j].key;
        item[j].index = take ? its.index : item[j].index;
    }
}

// Orders the items of all lanes: lane 0 has the first N then, lane 1 the next.
template <int N, class Item>
FUNCTION void warp_order(Item (&item)[N])
{
    UNROLL
    for (int size = 2; size <= N * static_cast<int>(SIMT_WARP); size *= 2) {
        if (size > N) {
            order_two_lanes<true>(item, static_cast<u32>(size / N - 1));
        } else {
            UNROLL
            for (int j = 0; j < N; j++)
                if ((j ^ (size - 1)) > j) order_two(item[j], item[j ^ (size - 1)]);
        }
        UNROLL
        for (int stride = size / 4; stride > 0; stride /= 2) {
            if (stride >= N) {
                order_two_lanes<false>(item, static_cast<u32>(stride / N));
            } else {
                UNROLL
                for (int j = 0; j < N; j++)
                    if (!(j & stride)) order_two(item[j], item[j | stride]);
            }
        }
    }
}
