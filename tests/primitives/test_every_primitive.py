"""Properties of every primitive: threads and streams, graphs, other libraries' arrays."""

import pytest
from inputs import on
from primitives import PRIMITIVES, values
from threads import at_once

import cubc

GPU = "cuda:0"
every = pytest.mark.parametrize("name", PRIMITIVES)
with_outputs = pytest.mark.parametrize(
    "name", [name for name, primitive in PRIMITIVES.items() if primitive.outputs]
)


@every
def test_numpy(device, name):
    for n in (1, 10_001, 300_001):
        x = values(n)
        PRIMITIVES[name].check(PRIMITIVES[name].call(x, device=device), x)


@every
def test_threads_with_a_stream_each(device, name):
    arrays = [values(20_000 + 777 * k, seed=k) for k in range(4)]
    moved = [on(device, x) for x in arrays]

    def calls(k):
        options = {}
        if device != "cpu":
            from cudart import Stream

            options["stream"] = Stream()
        for _ in range(10):
            result = PRIMITIVES[name].call(moved[k], **options)
            if options:
                options["stream"].wait()
            PRIMITIVES[name].check(result, arrays[k])

    at_once(calls, 4)


@pytest.mark.gpu
@with_outputs
def test_graphs(name):
    """Replays see the input as it is then, whatever has used the pool's memory in between."""
    from cudart import Stream

    stream, n, primitive = Stream(), 200_001, PRIMITIVES[name]
    x = cubc.asarray(values(n), device=GPU)
    outputs = primitive.make_outputs(x, lambda *like: cubc.empty(*like, device=GPU))
    cubc.synchronize(GPU)

    def queue():
        primitive.call(x, stream=stream, **outputs)

    queue()  # compiles: that cannot be captured
    stream.wait()
    replay = stream.capture(queue)
    for seed in range(1, 5):
        new = cubc.asarray(values(n, seed), device=GPU)
        cubc.transform("y", y=new, out=x, stream=stream)
        other = cubc.sort(cubc.asarray(values(n, seed + 100), device=GPU))
        for _ in range(3):
            replay()
        stream.wait()
        primitive.check(outputs, values(n, seed))
        PRIMITIVES["sort"].check(other, values(n, seed + 100))


@pytest.mark.gpu
@every
def test_torch(torch, name):
    x = values(100_001)
    given = torch.from_numpy(x).cuda()
    PRIMITIVES[name].check(PRIMITIVES[name].call(given), x)
    outputs = PRIMITIVES[name].make_outputs(
        x, lambda shape, dtype: torch.empty(shape, dtype=getattr(torch, dtype), device="cuda")
    )
    if outputs:
        PRIMITIVES[name].call(given, **outputs)
        PRIMITIVES[name].check(outputs, x)


@pytest.mark.gpu
@every
def test_cupy(cupy, name):
    x = values(100_001)
    given = cupy.asarray(x)
    PRIMITIVES[name].check(PRIMITIVES[name].call(given), x)
    outputs = PRIMITIVES[name].make_outputs(x, cupy.empty)
    if outputs:
        PRIMITIVES[name].call(given, **outputs)
        PRIMITIVES[name].check(outputs, x)
