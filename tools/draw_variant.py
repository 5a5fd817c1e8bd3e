"""Draws docs/variant.png: the variant plot of the best variant of the example store.

python tools/draw_variant.py
"""

from pathlib import Path

import matplotlib.pyplot as plt

from cubc import tuner

analysis = tuner.analyze(tuner.example_db(), R="scan")
figure = plt.figure(figsize=(8, 6.5), layout="constrained")
analysis.plot_variant(analysis.best().label, figure=figure)
target = Path(__file__).resolve().parents[1] / "docs/variant.png"
figure.savefig(target, dpi=75, metadata={"Software": None})
print(target, target.stat().st_size, "bytes")
