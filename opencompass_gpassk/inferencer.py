"""Old import path of :mod:`opencompass_gpassk.inference.inferencer`."""

from opencompass_gpassk.inference.inferencer import GPassKGenInferencer

__all__ = ['GPassKGenInferencer']
