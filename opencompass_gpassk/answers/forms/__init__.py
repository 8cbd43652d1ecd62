"""The forms of answers, in the order in which a text is read as one.

A form is one file: how it is recognised, made canonical and compared.
"""

from opencompass_gpassk.answers.forms.choice import Choice
from opencompass_gpassk.answers.forms.equation import Equation
from opencompass_gpassk.answers.forms.expression import Expression
from opencompass_gpassk.answers.forms.form import READERS, read_measured
from opencompass_gpassk.answers.forms.number import Number
from opencompass_gpassk.answers.forms.sequence import Sequence, read_list
from opencompass_gpassk.answers.forms.sets import Set
from opencompass_gpassk.answers.forms.text import Text

FORMS = (Choice, Number, Set, Text, Sequence, Equation, Expression)
READERS += [
    Choice.read,
    Number.read,
    read_measured,
    Set.read,
    Text.read,
    read_list,
    Equation.read,
    Sequence.read,
    Expression.read,
]
