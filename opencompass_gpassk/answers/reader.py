r"""Read the final answer of a response: structure first, words hardly at all.

Three steps:

1. *What is said* (``speech.py``). The response is cut at whatever looks like a mark of a chat
   template or of a reasoning wrapper. What was thought is dropped, and what follows the turn's end.
2. *What is given.* A box, a field of JSON, or what a label announces (*answer: 5*); the last one
   counts. It is no answer if it is denied, asked, or taken back by what follows.
3. *What is told.* Else the value with which the response ends, unless it was cut off.

How an answer is written (options, units, percents, lists, prose) is left to the comparison.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from opencompass_gpassk.answers.braces import BOXES, balanced, command_spans, without_boxes
from opencompass_gpassk.answers.speech import HTML, SAID, segments
from opencompass_gpassk.answers.units import split_unit

# --- 2. What is given -----------------------------------------------------------------------------

# A box without braces around its one word; one whose closing brace is missing.
BAD_BOX = re.compile(
    r'\\(?:boxed|fbox)(?:\s{1,3}([^\s\\{}$.,;]{1,50})|\s?\{([^\n$]{1,200}?)(?:\$|\\\)|\\\]|\n))'
)
PLACEHOLDER = re.compile(
    r'[\s.?_…}]*|(?:\\text\{)?(?:(?:your|final) )*(?:answer|N/A)\}?|\\[a-z]*dots|\\square',
    re.IGNORECASE,
)
# What stands between the boxes of one list: signs, a conjunction, the mark of a part, a name.
BETWEEN = re.compile(
    r'(?:[\s$,;:.、，；。：&*-]|\\[()\[\],;:! \\]|\\q?quad|(?:\\text\{)?\s?\b(?:and|or)\b\s?\}?'
    r'|以?及|或者?|[和与]|[(（]\w{1,3}[)）]|\b\d[.)、]|[①-⑨]|第.问|\b[a-zA-Z]\w?(?:_\{?\w\}?)?\s*=)*'
)
# Between boxes of one statement: the mean is \\boxed{5}; the median is \\boxed{7}. What follows
# from a box is no neighbour of it.
BESIDE = re.compile(
    r'[^.。!?\n=]{0,60}|[^.。!?\n=]{0,12}\n+[^.。!?\n=$\\]{1,40}[:：=]?[\s$*\\(\[]*'
)
DERIVED = re.compile(
    r'\b(?:so|thus|hence|therefore|then|which|giv(?:es|ing)|or|that is|i\.e|because|since|if|not'
    r'|out of|of)\b'
    r'|所以|因此|故|则|即|得|从而|不|\\(?:implies|[rR]ight|to\b|times|cdot)|[→⇒+*/×]',
    re.IGNORECASE,
)
PART = re.compile(r'[(（]([1-9]|[a-f]|i{1,3})[)）]|\bpart ([1-9a-f])\b', re.IGNORECASE)
# What belongs to a box beside it: x < \boxed{5}, \boxed{5}\%.
BEFORE = re.compile(r'(?:[a-zA-Z]\w?\s*)?(?:[<≤≥≠-]|(?<![=-])>|\\(?:[lgn]eq?|pm)(?![a-z]))\s?$')
BEHIND = re.compile(
    r'\s?(?:\$\s?)?(?:\\?%|percent\b|°|\^\s?\{?\\circ\}?|!|\^\{?\w+\}?'
    r'|(?:\\times|\\cdot|×)\s?\d+(?:\^\{?-?\d+\}?)?)'
)
# A word behind a value that may be its unit: 12 cubic feet.
UNIT_BEHIND = re.compile(r'[\s$*]{1,3}((?:(?:square|cubic) )?[a-z]+(?:/[a-z]+)?)(?!\w| per )')

# The word for an answer in some languages, and what links it to the answer: a copula or a sign.
WORD = (
    r'answers?|ans(?=\s?[:.])|(?:final|correct|right|best) (?:result|option|choice|value)s?'
    r'|r[ée]ponse|respuesta|resposta|risposta|antwort|lösung|ergebnis|r[ée]sultat|resultado'
    r'|ответ\w*|svar(?:et)?|jawaban\w*|đáp án|cevap|yanıt|odpowiedź|απάντηση|คำตอบ|उत्तर'
    r'|الإجابة|الجواب|答案|答え|答|解答|正确的?选项|(?:最[终后])?结果|結果|정답|답|결과'
)
COPULA = (
    r'(?:(?<![^\W\d_])(?:is|are|(?:would|should|must) be|est|es|é|è|sind|ist|lautet|adalah|là|är)'
    r'(?![^\W\d])|هي|هو|है|は|が|은|는|คือ|应?该?[是为]|选|等于|\*{0,2}\s?[:：=]|[】\]]|——?)'
)
# A label: a word and its copula; a heading; the #### of GSM8K at the end; the choice of an option.
LABEL = re.compile(
    rf'(?<![a-zA-Z"\'])(?:{WORD})[^\n.:：。,，!?？=\d$\\"\'答]{{0,40}}?[*_”)\s]{{0,4}}{COPULA}'
    rf'|(?:^|\n)[#*\s【\[]{{0,8}}(?:the )?(?:final |correct )?(?:{WORD}|response|output|results?)'
    r'[\]】#*:：\s]{0,6}(?=\n)'
    r'|(?<!#)####(?!#)(?!\s*\**(?:\d+[.:)]\s)?[a-z]{3,}\W{0,2}\s\S)(?=[^\n]*\s*\Z)'
    r'|[选選]择?\s?[:：]?\s?(?=[(（]?[A-J]+(?![a-z]))'
    rf'|(?<![a-zA-Z"\'])(?:{WORD})\s{{0,3}}(?=\$|\\\(|\\\[)'
    r'|\b(?:choose|select|pick|go with|option is)\b(?=[\s*(]{1,4}[A-J]\b)',
    re.IGNORECASE,
)
ITEM = r'\s*(?:[-*•]|\d[.)]|[(（]\w[)）])[ \t]+([^\n]{1,150})'
ITEMS = re.compile(rf'[*\s:：]*\n(?:{ITEM}(?:\n+|\Z)){{2,9}}')  # announced one below the other
LETTERS_BELOW = re.compile(r'(?:\s*\n\W{0,3}[A-J]\W{0,3})+\Z')  # several options
FILL = re.compile(
    r'(?:```\w*\n|(?<=\n)[-•]\s|[\s:：*`#>}]|(?:simply|therefore|thus|just|that|exactly|definitely)\b)*',
    re.IGNORECASE,
)
STOP = re.compile(
    r'\n|[。！？；]|[.!?](?=[\s*]|$)|,?\s\(?(?:because|since|as it)\s|</|`|，(?:因为|理由)'
    r'|\s?(?:です|である|입니다|이다|이에요)'
)
OPTION = re.compile(
    r'\W{0,6}(?:\\text(?:bf)?\{)?\W{0,3}(?:option |choice |选项?)?\W{0,3}(?-i:([A-J]))'
    r'(?![.)）]?\s?(?:[,、&和与或]|and\b|or\b)\s?\W?(?-i:[A-J])\b)'
    r'(?:\W{0,9}\Z|[.)、:：．]\W{0,9}[^.\s]|\)|\s\(|\s?选?项|\s?是?正确'
    r'|\sis (?:the )?(?:correct|right|best))',
    re.IGNORECASE,
)
FIELD = re.compile(
    r'["\'](?:\w*[_ ])?(?:answer|result|choice|答案)["\']\s*[:：]\s*'
    r'(?:"((?:[^"\\]|\\.)*)"|\'([^\'\n]*)\'|[\[{]([^\[\]{}]*)[\]}]|([^\s,}\n][^\n,}]*))',
    re.IGNORECASE | re.DOTALL,
)
VALUE = re.compile(r'\d|\\[a-zA-Z]|^\W*[A-J]\W*$')

# The vetoes. What the clause before a value says of it: that it isn't it, that others say so, that
# it is a guess, a bound or another value made of it. Words of the question don't count.
DOUBTED = re.compile(
    r'\b(?:not|never|no(?: (?:one|body))?|nobody|none|neither|cannot|wrong|false|incorrect|fails?'
    r'|error|mistake|except|instead of|rather than|unlike|avoid|ignore|possibly|probably|perhaps'
    r'|maybe|may|might|doubt|guess\w*|estimate|suppose|assum\w+|let (?=\w+ be)|if(?! and only)'
    r'|first|sa(?:ys?|id)|claims?|(?<!I )(?<!we )(?:think|believe)s?|believed|hope'
    r"|(?:I|we|he|she|some) thought|let's (?:try|verify|check|test)"
    r'|trap|naive|careless|extraneous|distractor|(?:lower|upper) bound|close to|at (?:most|least)'
    r'|(?:less|more|greater|smaller|fewer) than(?! or)|half|twice|reciprocal|inverse|opposite'
    r"|of the answer|the answer and|(?<!each )other|previous)\b|n't\b"
    r'|不(?!同|等式|妨)|[没非误猜假伪]|错|增根|其[他它]|上一|可能|也许|大概|或许|如果|假[如设]|若|当|接近|[上下]界|陷阱|有人|[至最][多少]'
    r'|相反数|倒数|[两一]倍|一半|对数|除',
    re.IGNORECASE,
)
# A value in a formula: x_{\boxed{7}}, 2\boxed{7}, \boxed{7} + 1; what is no letter's name.
ATTACHED = re.compile(
    r'(?:[-+−×÷≈*/^_|∉¬,]|(?<!\\)\(|(?<![a-zA-Z])\d|\d[a-zA-Z]\s?=|(?<![a-zA-Z\])])[a-zA-Z]\^\{?\d\}?\s?='
    r'|\\(?!text|q|left|in\b|,|;|implies|[rR]ight|Long|long|therefore|displaystyle|boxed|item|begin'
    r'|because|to\b|hspace|big|Big|mathbf|lbrace|\{)[a-zA-Z]+|\{)[ \t]?$'
)
CONTINUED = re.compile(
    r"\s?(?:[-+*/^_=!'(]\s?(?![a-zA-Z]{2})[\w\\(]|\.\d|[a-z](?![a-z]))"
    r"|\s?(?:plus|minus|times|less|and) \d|'\Z"
    r'|[\s$\\\])]*(?:dollars? )?(?:before|would|less)\b'
    r'|\s?\$*\s?(?:million|billion|thousand|hundred|dozen|[万百千亿打])'
)
REFUTED = re.compile(
    r'[\s$*)\\.}\],]*(?:(?:which|that|this|but this|it|\w{1,4}) )?'
    r'(?:is|are|was|would be|does|do)?\s?'
    r"(?:(?:only )?a guess|(?:not|n't|in)\s?(?:correct|right|valid|possible|satisfy|the answer)"
    r"|(?:not|n't)\s?(?:\w+ )?(?:satisfy|work)|wrong|false|cannot|can't|fails?\b|(?:ruled|left) out"
    r"|eliminated|off by|what one would|won't|不对|不正确|是?错)",
    re.IGNORECASE,
)
TAKEN_BACK = re.compile(
    r'\b(?:wait|actually|correction|oops|sorry|scratch that|edit|mistake|misread|recheck\w*'
    r'|on reflection|true value|don.t (?:believe|think)|overcount\w*|i doubt'
    r'|(?:it|answer) should (?:be|have been)|does(?: not|n.t) satisfy'
    r'|must be (?:removed|excluded))\b'
    r'|\bno[,:]'
    r'|\bhowever\b(?=[^.]*\bso there\b)|不对|更正|等等|抱歉|重新|改为|哎呀|其实|应[该为]',
    re.IGNORECASE,
)
RELATIVE = re.compile(  # the probability that it does not rain; that a red one is not last is
    r"\b(?:that|which|who)(?: \w+)? (?:does|do|did|can|will|is|are|has|have)(?: not|n't) \w+"
    r"|\b(?:is|are|do|does)(?: not|n't) (?!(?:true|correct|that|the case|\w*clear|sure|certain"
    r'|think|believe|say|mean|agree)\b)[^.]*(?=\b(?:is|are|equals?)\W*\Z)',
    re.IGNORECASE,
)
CLAUSE = re.compile(r'[\n.。!?！？,，;；:：](?!\d)')
ASKED_WORD = re.compile(r'[a-z]+|[\u4e00-\u9fff]')


LONGEST = 300  # characters of an answer that a label announces, or of a sentence that tells one


class Given(NamedTuple):
    """An answer that is given, and where: its box, its field, or its label with it."""

    value: str
    start: int
    end: int


def given(text: str, question: str, tries: int = 3) -> tuple[bool, str | None]:
    """Tell whether a text gives an answer, and return the last of ``tries`` that isn't vetoed."""
    box, label, entry = _box(text, question), _labelled(text), _field(text)
    found = [one for one in (entry, box) if one]
    if label and (not found or VALUE.search(label.value)):
        found.append(label)
    last = max(found, key=lambda one: one.end, default=None)
    if last is None or last is entry:
        return last is not None, last and last.value
    before = text[max(0, last.start - 60) : last.start]
    if last is label:
        before += text[last.start : last.end].removesuffix(last.value)
    after = text[last.end : last.end + 600]
    taken_back = TAKEN_BACK.search(after)
    clause = CLAUSE.split(before.rstrip(' :：*$\\[('))[-1]
    tried = last is box and (ATTACHED.search(before) or CONTINUED.match(after))
    if tried or _is_doubted(clause, question) or REFUTED.match(after):
        earlier = text[: last.start] if tries > 1 else ''
        return given(earlier, question, tries - 1) if '\\boxed' in earlier else (True, None)
    if after.lstrip(' $*)')[:1] in ('?', '？') or taken_back:
        value = told(after[taken_back.start() if taken_back else 1 :], question)
        return True, value if value and VALUE.search(value) else None
    return True, _measured(last.value, after)


def _is_doubted(clause: str, question: str) -> bool:
    """Tell whether the clause before a value doubts it in words that aren't the question's."""
    asked = set(ASKED_WORD.findall(question.lower()))
    clause = RELATIVE.sub(' ', clause)
    return any(
        not asked.issuperset(ASKED_WORD.findall(found[0].lower()))
        for found in DOUBTED.finditer(clause)
    )


def _box(text: str, question: str) -> Given | None:
    """Return the last box of a text; if it ends a list of boxes or one for each part, all these."""
    found: list[Given] = []
    covered = 0
    for command, start, end in command_spans(text, BOXES):
        if command < covered:  # before the copy: boxes may be nested
            continue
        covered = end
        content = without_boxes(text[start:end]).strip()
        if PLACEHOLDER.fullmatch(content):
            continue
        before, behind = (
            BEFORE.search(text[max(0, command - 20) : command]),
            BEHIND.match(text, end + 1),
        )
        value = (before[0] if before else '') + content + (behind[0].strip(' $') if behind else '')
        found.append(Given(value, command, behind.end() if behind else end + 1))
    if not found:
        if '\\\\boxed' in text:
            return _box(text.replace('\\\\', '\\'), question)
        bad = list(BAD_BOX.finditer(text))
        value = (bad[-1][1] or bad[-1][2]).strip() if bad else ''
        return None if PLACEHOLDER.fullmatch(value) else Given(value, *bad[-1].span())
    asked = {(a or b).lower() for a, b in PART.findall(question)}
    run = [found.pop()]
    while found:
        between = text[found[-1].end : run[0].start]
        part = PART.search(between)
        numbered = part and ((part[1] or part[2]).lower() in asked or '\n' not in between)
        listed = BETWEEN.fullmatch(between) or numbered
        if not listed and not (BESIDE.fullmatch(between) and not DERIVED.search(between)):
            break
        run.insert(0, found.pop())
    return Given(', '.join(dict.fromkeys(one.value for one in run)), run[0].start, run[-1].end)


def boxed(text: str) -> str | None:
    """Return the content of the last box or list of boxes; None if there is none."""
    box = _box(text, '')
    return box.value if box else None


def _labelled(text: str) -> Given | None:
    """Return what the last label of a text announces that announces a short text."""
    for label in reversed([*LABEL.finditer(text)]):
        items = ITEMS.match(text, label.end())
        if items and '\\boxed' not in items[0]:
            values = re.findall(ITEM, items[0])
            return Given(', '.join(one.strip(' *,;') for one in values), label.start(), items.end())
        fill = FILL.match(text, label.end())
        start = fill.end() if fill else label.end()
        option = OPTION.match(text, start, start + 20)
        math = MATH.match(text, start)
        skip = max(option.end() - 1 if option else math.end() if math else 0, start + 1)
        stop = STOP.search(text, skip, skip + LONGEST)
        end = stop.start() if stop else min(len(text), skip + LONGEST + 1)
        value = text[start:end].strip('*"“”\' \t\r').rstrip(',，;；')
        asked = text.startswith(('?', '？'), end)
        below = LETTERS_BELOW.match(text, end) if re.fullmatch('[A-J]', value) else None
        if below:
            return Given(value + ''.join(re.findall('[A-J]', below[0])), label.start(), below.end())
        empty = PLACEHOLDER.fullmatch(value) or '\\boxed' in value
        if not empty and len(value) <= LONGEST and not asked:
            return Given(value, label.start(), end)
    return None


def _field(text: str) -> Given | None:
    """Return the last field of JSON that is called an answer; its LaTeX may lack the escapes."""
    last = next(reversed([*FIELD.finditer(text)]), None)
    if last is None:
        return None
    double, single, inner, bare = last.groups()
    value = next((one for one in (double, single, bare) if one is not None), '')
    if inner:  # a list, or fields of their own
        entries = (re.sub(r'"\s*:\s*', ' = ', one).replace('"', '') for one in inner.split(','))
        value = ', '.join(one.strip() for one in entries)
    value = value.replace('\\\\', '\\') if re.search(r'\\\\[a-zA-Z(]', value) else value
    return Given(value.replace('\\n', '\n').strip(), *last.span())


def _measured(value: str, after: str) -> str:
    """Return a value with the unit that stands behind it: its box holds 60, and m/s follows."""
    word = UNIT_BEHIND.match(after)
    if not word or not VALUE.search(value) or split_unit(value)[1]:
        return value
    number, unit = split_unit(f'1 {word[1]}')
    return f'{value} {word[1]}' if number == '1' and unit[:1] != '1' else value


# --- 3. What is told ------------------------------------------------------------------------------

SENTENCE_END = re.compile(r'(?<=[。！？?])|(?<=!)(?<!\\!)|(?<!\b[A-J]\.)(?<=\.)(?=[\s*]|$)|\n')
LAYOUT = re.compile(
    r'\\(?:boxed|fbox)\{[\s?.]*\}|\\(?:begin|end)\{(?:align|gather|equation|split)(?:ed|at)?\*?\}'
)
MATH = re.compile(
    r'\$\$\s*([^$]{1,300}?)\s*\$\$|\$(?!\s)([^$\n]{1,200}?)(?<!\s)\$(?!\d)'
    r'|\\\((.{1,200}?)\\\)|\\\[\s*(.{1,300}?)\s*\\\]',
    re.DOTALL,
)
NUMBER = re.compile(
    r'(?<![a-zA-Z0-9.,^_{\\/√-])-?(?:\\?\$)?-?(?:\d{1,3}(?:\.\d{3})+,\d\d|\d+(?:,\d{3})*(?:\.\d+)?)(?:/\d+|:\d\d)?(?:\s?\\?%)?'
    r'(?![a-zA-Z0-9_^{√]|[.,]\d)'
)
BOLD = re.compile(r'\*\*([^*\n]{1,80})\*\*')
WORD_OF_PROSE = re.compile(
    r'(?!and\b)(?<![\\a-zA-Z{])[a-zA-Z]{3,}(?![a-zA-Z}^_({])|[\u4e00-\u9fff]'
)
TEXT = re.compile(r'\\(?:text\w{0,2}|mathrm)\{[^{}]*\}')
CONTENT = re.compile(r'[a-z]{4,}|\d+|[\u4e00-\u9fff]')
IS = re.compile(
    r'(?<!!)=|[:：→⇒]|\b(?:is|are|equals?|was|be|leaves|gives(?: us)?|yields|makes|becomes'
    r'|simplifies to)\b|等于|[是为]'
)
# What a sentence goes on with behind its value: where it is attained, why it is so.
ASIDE = re.compile(r'[,，;；]\s?(?:当且仅当|where|when|since|because|attained|for|因为|此时).*')
THEN = re.compile(
    r'\A\W{0,8}(?:(?:(?:that|this|which) (?=leaves|gives|makes|yields)'
    r'|we (?:get|find|have)(?: that)?|so|thus|hence|therefore|finally|in total|overall|consequently'
    r'|altogether'
    r'|donc|folglich)\b|所以|因此|故|综上|即|于是|最后|共|∴|따라서|поэтому)',
    re.IGNORECASE,
)
SHORT_LABEL = re.compile(r'^[^\d\n:：=$\\]{1,40}[:：]\s*(?=\S)')
UNSURE = re.compile(
    r'\b(?:not|no(?! doubt)|none|never|cannot|however|but|error|unable|except|would|for example)\b'
    r"|n't\b"
    r'|不(?!同|等式|妨)|[没无非]|但|错',
    re.IGNORECASE,
)
SEVERAL = re.compile(r'\b(?:or|and)\b|[,;，；或和]')
AROUND = ' \t\r\n*_`#|>•∴→⇒=。,，;；:：'
OPTION_MARK = re.compile(r'(?<![a-zA-Z])([A-J])\s?[.)、．:：]')
SPEAKER = re.compile(r"^(?:I|I'm|We|Sorry|As an AI|The answer)\b|\bmy\b|[我您]|抱歉", re.IGNORECASE)
# A question for yes or no, unless it asks for more; and how it may be answered.
YES_OR_NO = re.compile(
    r'(?:^|(?<=[.?!\n]))\s*(?:Is|Are|Does|Do|Did|Can|Could|Will|Was|Were|Has|Have)\b[^.?]*\?|是否|吗'
)
ASKS_MORE = re.compile(r'\b(?:find|how many|how much|what|which)\b|多少|几|求', re.IGNORECASE)
TRUTH = re.compile(
    r'\W{0,6}(yes|no|true(?! \w+ (?:are|is))|false|是的?|否|不是|对|错|正确|错误)'
    r'(?![\w-])(?!\s(?:matter|doubt|more)\b)',
    re.IGNORECASE,
)


LISTED = re.compile(
    r'(?:\A|(?:[:：]|\b(?:is|are)|[是为])\**\s*\n)'
    r'((?:[ \t]*(?:[-*•]|\d[.)])\s[^\n]{1,100}(?:\n|\Z)){2,9})\Z'
)
NAMED_LINES = re.compile(r'(?:\A|\n)((?:\$?[a-zA-Z]\s?[:：=]\s?[^\n=$]{1,60}\$?(?:\n|\Z)){2,6})\Z')
LINE_MARK = re.compile(r'(?:^|\n)[ \t]*(?:[-*•]\s|\d[.)]\s)?')


# A sentence that only counts: there are 7 ways, 一共有7个; what makes another number of it.
COUNTED = re.compile(r'(?:\b(?:are|is|was|were|has|have|gets?|needs?)|[有得是为到共])[\s*]*$')
AMOUNT = re.compile(
    r'\s?(?:左右|多|以|上下|半|[百千万亿打倍余]|分之|\w{0,3}\s?的|more\b|before\b|dozen|hundred|thousand|[mb]illion)'
)


def _bare(text: str) -> str:
    return text.strip(AROUND).rstrip(AROUND + '.')


def told(text: str, question: str) -> str | None:
    """Return the value with which a text ends, or the whole text if it is short."""
    text = LAYOUT.sub('\n', text).strip()
    truth = _truth(text, question)
    if truth:
        return truth
    if several := _listed(text):
        return several
    flat = MATH.sub(lambda found: found[0].replace('\n', ' '), text)
    sentences = [one.strip() for one in SENTENCE_END.split(flat) if _bare(one)]
    for sentence in sentences[:-4:-1]:
        value = _stated(sentence, question, alone=len(sentences) == 1)
        if value:
            return value
        courtesy = sentence.endswith(('?', '？', '!')) or not UNSURE.search(sentence)
        if NUMBER.search(sentence) or not courtesy or sentence[-1].isalnum():
            break
    bold = {_bare(one) for one in BOLD.findall(text)}
    if len(bold) == 1 and '**' in ''.join(sentences[:1]):  # an answer with its explanation below
        return bold.pop()
    words = WORD_OF_PROSE.findall(text)
    short = len(text) <= 80 and '\n' not in text and not text.endswith(('?', '？', ':', '：'))
    short = short and not SPEAKER.search(text) and '\\boxed' not in text
    finished = balanced(text) and (len(words) < 4 or not text[-1].isalnum())
    return text if text and short and finished else None


def _listed(text: str) -> str | None:
    """Return the values of a list, or of lines with a name each, with which a text ends."""
    found = LISTED.search(text) or NAMED_LINES.search(text)
    if found and _is_doubted(CLAUSE.split(text[: found.start(1)].rstrip(' :：\n'))[-1], ''):
        return None
    lines = [one.strip(' *$.,;') for one in LINE_MARK.split(found[1])] if found else []
    values = [
        SHORT_LABEL.sub('', one) if ':' in one or '：' in one else one for one in lines if one
    ]
    if len(values) < 2 or not all(
        VALUE.search(one) and not WORD_OF_PROSE.search(TEXT.sub('', one)) for one in values
    ):
        return None
    return ', '.join(re.sub(r'\$|\*', '', one).replace(':', ' =', 1) for one in lines if one)


def _stated(sentence: str, question: str, *, alone: bool = False) -> str | None:
    """Return what a last sentence states: itself, an option, its bold, or the last value in it.

    It has to be a conclusion, in words of the question, or all that is said.
    """
    sentence = sentence[-2 * LONGEST :]
    cells = sentence.strip().strip('|').split('|') if sentence.startswith('|') else [sentence]
    bare = re.sub(r'^(?:[-*•>]|\d[.)])\s+', '', cells[-1].strip())
    concluded = THEN.match(bare) is not None
    bare = re.sub(r'^\((.*=.*)\)$', r'\1', bare)  # a check of it
    bare = _bare(SHORT_LABEL.sub('', _bare(THEN.sub('', bare))))
    option = OPTION.match(bare)
    if option and option[1] in options(question):
        return option[1]
    if sentence.endswith(('?', '？')) or not balanced(bare):
        return None
    if len(bold := BOLD.findall(sentence)) == 1:
        return _last_side(_bare(bold[0]))
    plain = ASIDE.sub('', bare)
    if VALUE.search(plain) and not WORD_OF_PROSE.search(TEXT.sub('', plain)):
        return _last_side(plain)
    words = CONTENT.findall(NUMBER.sub('', MATH.sub('', sentence)).lower())
    asked = question.lower()
    concluded = concluded or 0 < len(words) <= sum(one in asked for one in words) * 2
    if UNSURE.search(sentence) or _is_doubted(sentence, question):
        return None
    if not (concluded or alone or '=' in sentence):
        return None
    if linked := behind_link(sentence):
        return linked
    plain = MATH.sub(lambda one: ' ' * len(one[0]), sentence)
    found = sorted([*MATH.finditer(sentence), *NUMBER.finditer(plain)], key=lambda one: one.start())
    found = [one for one in found if one[0] not in question] or found
    stopped = sentence[-1].isalnum() and found and len(sentence) - found[-1].end() > 12
    alone = alone and len(found) == 1 and COUNTED.search(sentence[: found[0].start()]) is not None
    alone = alone and not AMOUNT.match(sentence[found[0].end() :])
    if not found or stopped or not (concluded or alone):
        return None
    return _measured(_last_side(found[-1][0]), sentence[found[-1].end() :])


def behind_link(sentence: str) -> str | None:
    """Return the value behind the first *is* or sign of a sentence; None if there is a doubt."""
    for link in IS.finditer(sentence) if is_sure(sentence) else ():
        rest = ASIDE.sub('', sentence[link.end() :])
        rest = _bare(rest[fill.end() if (fill := FILL.match(rest)) else 0 :])
        prose = WORD_OF_PROSE.search(TEXT.sub('', MATH.sub('', rest)))
        if VALUE.search(rest) and balanced(rest) and not prose:
            return _last_side(rest)
    return None


LINK = re.compile(
    r'[:：](?!\d)|\b(?:is|are|equals?|was|falls on|equation(?= \$))\b|等于|[是为有]|选(?!项)|需要'
)
ARTICLE = re.compile(
    r'\s*(?:(?:(?-i:an?)|the|at|on|in|always|option|given by|equation|therefore)\b[\s$]*)+'
    r'|[:：*\s$]+',
    re.IGNORECASE,
)
TAIL = re.compile(
    r'\s(?:only|in total|altogether)\b.*|,? for (?:all|every|any|each) .*', re.IGNORECASE
)


def stated(text: str) -> str | None:
    """Return what a short sentence says of its subject, in its words; None if it doubts it."""
    bare = TAIL.sub('', ASIDE.sub('', _bare(THEN.sub('', text)))).strip()
    if len(bare) > LONGEST:
        return None
    shown = MATH.sub(lambda found: ' ' * len(found[0]), bare)
    for link in reversed([*LINK.finditer(shown)]):
        article = ARTICLE.match(bare, link.end())
        rest = _bare(bare[article.end() if article else link.end() :])
        lead = bare[: link.start()]
        return rest if rest and is_sure(lead if TRUTH.fullmatch(rest) else bare) else None
    return bare if bare != text and is_sure(bare) else None


def is_sure(text: str) -> bool:
    """Tell whether a text denies or doubts nothing."""
    return not UNSURE.search(text) and not DOUBTED.search(text)


CALCULATION = re.compile(r'(?:\s*[a-z]\s?=(?=[^=]+=))?[\d\s+*/().=-]*')


def _last_side(formula: str) -> str:
    """Return the last side of a chain of equations; an equation with a name stays as it is."""
    formula = MATH.sub(lambda found: next(filter(None, found.groups())), formula)
    formula = formula if '\\begin' in formula else formula.replace('&', '')
    formula = re.split(r'\s(?:\\approx|≈)', formula)[0]
    sides = re.split(r'(?<!!)=(?![^{}]*\})', formula)
    if len(sides) > 1 and CALCULATION.fullmatch(formula):  # whether it holds is compared
        return formula.strip(' $')
    chain = len(sides) > 2 or (len(sides) == 2 and not re.search('[a-zA-Z]', sides[0]))
    return (sides[-1] if chain and not SEVERAL.search(formula) else formula).strip(' $')


def _truth(text: str, question: str) -> str | None:
    """Return yes or no, if that is asked and a text ends or begins so."""
    asked = YES_OR_NO.search(question) and not ASKS_MORE.search(question)
    sentences = [one for one in SENTENCE_END.split(text) if _bare(one)]
    if not asked or not sentences:
        return None
    for sentence, after in ((sentences[-1], ''), (sentences[0], ''.join(sentences[1:]))):
        found = TRUTH.match(THEN.sub('', sentence))
        if found and not TAKEN_BACK.search(after):
            return found[1]
    return None


def options(question: str) -> str:
    """Return the letters of the options that a question lists."""
    found = ''
    for letter in OPTION_MARK.findall(question):
        found += letter if letter == 'ABCDEFGHIJ'[len(found) : len(found) + 1] else ''
    return found if len(found) > 1 else ''


def _refined(value: str, question: str) -> str:
    """Return the option or the yes or no with which a given answer begins; the value of prose."""
    whole = MATH.fullmatch(value)
    value = next(filter(None, whole.groups())) if whole else value
    option, truth = OPTION.match(value), TRUTH.match(value)
    if option and option[1] in options(question):
        return option[1]
    if truth and not ASKS_MORE.search(question) and YES_OR_NO.search(question):
        return truth[1]
    words = WORD_OF_PROSE.findall(TEXT.sub('', value))
    long = sum(0.65 if one > 'z' else 1 for one in words) > 3
    if long and NUMBER.search(value) and not {'than', 'least', 'most'} & {*words}:
        return _stated(f'So {value}.', question) or value
    return value


READ = 20_000  # characters at the end of what is said
# What a base model goes on with: the next question.
FURTHER = re.compile(
    r'\n\W{0,4}(?:Question|Problem|Exercise|Instruction|User|Human|Input|Q|题目|问题?)'
    r'\s?\d*\W{0,3}[:：]'
)
AMID = re.compile(r'(?:[=+−×/^_(<\[{,，、\\:：-]|\s\*|\b(?:and|the|is|are|of|to|for|by|with))\Z')
FULL_STOP = re.compile(r'\w\*{0,2}(?:\.(?:\s|\Z)|。)')


def is_unfinished(text: str) -> bool:
    """Tell whether a text was cut off: it ends amid a formula, or lacks only its last full stop."""
    line = text.rpartition('\n')[2]
    in_formula = line.count('\\(') != line.count('\\)') or text.count('\\[') > text.count('\\]')
    stops = line[-1:].isalnum() and FULL_STOP.search(text) and len(WORD_OF_PROSE.findall(line)) > 2
    return bool(stops or in_formula or line.count('(') > line.count(')') or AMID.search(line))


def read_answer(response: str, question: str = '', *, cut_off: bool = False) -> str | None:
    """Return the final answer of a response as it is written; None if it gives none.

    The last 20,000 characters of what it says are read; the time is linear in the response.

    Args:
        response: The response of a model, with its thoughts if it has any.
        question: The question, if it is known: it tells of options, of parts, and of yes or no.
        cut_off: Whether the response was cut off: then only a whole box or label gives an answer.
    """
    said = [(text[-READ:], kind) for text, kind in segments(response) if kind in SAID]
    pieces = [(plain, kind) for text, kind in said if (plain := HTML.sub(_kept, text).strip())]
    if not pieces:
        return None
    tagged = [text for text, kind in pieces if kind == 'answer']
    last = tagged[-1] if tagged else pieces[-1][0]
    if tagged and not given(last, question)[0]:
        return None if cut_off and response.rstrip().endswith(last) else last
    further = FURTHER.search(last)
    front = last[: further.start()] if further else ''
    if front.strip() and (given(front, question)[0] or VALUE.search(told(front, question) or '')):
        last = front
    for text in (last, '\n'.join(text for text, _ in pieces)):
        found, value = given(text, question)
        if found:
            unfinished = cut_off and value is not None and text.rstrip().endswith(value)
            return None if value is None or unfinished else _refined(value, question)
    value = told(last, question)
    in_code = last.count('```') % 2
    return None if cut_off or is_unfinished(last) or in_code else value


def _kept(tag: re.Match[str]) -> str:
    """Return a tag that says something, such as ``<sub>``; '' for another."""
    return tag[0] if tag['kept'] else ''
