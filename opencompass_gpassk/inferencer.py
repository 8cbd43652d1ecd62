"""The public address of the inferencer: configs, and runs that OpenCompass dumped, name it."""

from opencompass_gpassk.inference.inferencer import GPassKGenInferencer

__all__ = ['GPassKGenInferencer']
