"""Frames: the words that may stand around an answer without changing it.

A frame is allowed, not searched for faults: *the largest n is 34* states 34 because *the largest n
is* is one, and *all except 34* states nothing because *all except* is none.
"""

from __future__ import annotations

import re

from opencompass_gpassk.answers.braces import TEXT_COMMAND
from opencompass_gpassk.answers.units import WORDLISTS, either, split_unit

SENTENCE_LIMIT = 600
STATEMENT_END = re.compile(r'\n|[。！？।؟]|[.!?](?=\s|$)')
# Words that may stand around a value beside the question's own.
FRAME_WORDS = [
    'the',
    'there',
    'are',
    'is',
    'was',
    'were',
    'has',
    'have',
    'had',
    'will',
    'can',
    'does',
    'did',
    'in',
    'total',
    'all',
    'altogether',
    'exactly',
    'only',
    'therefore',
    'thus',
    'hence',
    'finally',
    'this',
    'that',
    'which',
    'they',
    'she',
    'its',
    'his',
    'her',
    'their',
    'left',
    'leaves',
    'over',
    'remain',
    'remaining',
    'remains',
    'still',
    'with',
    'now',
    '所以因此共有一是了的总答',
]
# With what a speaker takes back what was said before.
SLIP = r'wait|actually|correction|instead|scratch|retract\w*|oops|sorry'
SLIP_CHINESE = '不对|不是|更正|等等|其实|抱歉|哎呀'
# What denies a statement, makes it a guess, or puts it into another's mouth.
RETRACTION = re.compile(
    r"\b(?:not|no|never|n't|neither|nor|cannot|nobody|none|without|false|incorrect|wrong|mistak\w*"
    r'|doubt\w*|guess\w*|may|maybe|might|perhaps|possibly|probably|unlikely|unless|except'
    rf'|{SLIP}|said|says?|claim\w*|thinks?|i thought|believe\w*|suppos\w*|assum\w*|pretend\w*'
    r'|misread|pas|nicht|naive|trap|careless|forget|forgot\w*|avoid|extraneous|distractor|unlike'
    r'|common (?:error|mistake)|(?:lower|upper) bound|estimate|close to|let.s try'
    r'|digits of the answer|ignore|disregard'
    r"|eliminat\w*|rul(?:e|ed|ing) out|fails?|reject\w*|discard\w*|too (?:small|large))\b|n't\b"
    r'|不(?!同|等式|妨)|没|非|未|勿|并无|错|误|疑|猜|可能|也许|或许|大概|如果|假如|假设|除了|除非|以为|认为|觉得|说'
    rf'|若|当|舍去|排除|应为|陷阱|有人|接近|下界|上界|增根|伪解|{SLIP_CHINESE}',
    re.IGNORECASE,
)
# What makes another value of the one that is described: its square, twice it, a bound of it.
CHANGE = re.compile(
    r'\b(?:reciprocal|opposite|inverse|negative|minus|plus|twice|double|triple|half|thirds?'
    r'|square[ds]?|cube[ds]?|factorial|logarithm|divided|multiplied|added|subtracted)\b'
    r'|倒数|相反数|平方|立方|一半|[两几双]?倍|至少|至多|最多|最少|超过|大于|小于|多于|少于|以[上下外]|之外'
    r'|大约|左右|根号|分之|负',
    re.IGNORECASE,
)
THEN = (
    r'(?:therefore|thus|hence|consequently|finally|in conclusion|conclusion|so|and so|overall|ainsi'
    r'|in summary|in all|in total|altogether|en conclusion|donc'
    r'|结论|因此|所以|因而|于是|综上所述|综上|最终|最后|故|可知|从而|进而|那么|则|即|∴|لذا)(?!(?<=[a-z])[a-z])'
)
CONCLUSION = re.compile(THEN, re.IGNORECASE)
# The last clause of a sentence begins with such a word: 3 + 4 = 7, so the sum is 7.
CLAUSE = re.compile(
    rf'(?:(?<!that)[,;，；]\s?|\s(?=(?-i:[^\x00-@\[-\x7f])))(?={THEN})'
    r'|(?<=[\w)\]]{2})\s(?:→|⇒|⟹|=>)\s',
    re.IGNORECASE,
)
# We find that; this gives; there are; so we get.
OPENING = re.compile(
    rf'(?:{THEN}[\s,，،:：*]*|(?:we|i|one)(?: can)?(?: now| then)?'
    r' (?:get|find|obtain|have|conclude|see|know|write)(?: that)?[\s,:]*'
    r'|(?:we|i) (?:think|believe)(?: that)?[\s,:]*'
    r'|(?:this|which|that|it) (?:gives|yields|means|implies)(?: that)?\s'
    r'|(?:here|there) (?:is|are)\s(?:exactly |a total of |a |an |only )?'
    r'|我们?(?:可以)?(?:得到|得出|可得|求得|知道)|(?:得到|得出|解得|可得|求得|得)[:：，,\s]*'
    r'|(?:一|总|合|共)?(?:总共|共计|一共|共)?有\s*|an?swer\b[\s:：]*|ans\b[\s:：.]*|result\b\s*:\s*'
    r'|答案?(?![案的])[:：是为]*\s*|(?:应|故)?[选選填]择?[:：\s]*'
    r'|(?:the )?(?:correct )?(?:option|choice) (?=\(?[A-J]\b)'
    r')+',
    re.IGNORECASE,
)
SOLVED = re.compile(r'(?:解|可|求|化简)?得[:：，,\s]*|we (?:get|obtain|find|have)\s')
NAME = r'\$?\\?[a-zA-Z]\w?(?:_\{?\w\}?)?(?:\(\w+\))?\$?'
COPULA = re.compile(
    r'\s(?:is(?! divided)|are|equals?|becomes|gives'
    r'|(?:simplifies|reduces|evaluates|comes|amounts) to|will be|must be|should be'
    r'|increases by|decreases by|est|هو'
    r'|has (?:the )?(?:equation|coordinates|value)|falls on|takes|costs|lies in)'
    r'(?: (?:equal to|given by|then|thus|therefore|exactly|just|simply|always|now|donc|at|in))?'
    r'(?: de)?\s*[:：]?(?=[\s$\\(\[*\d-])'
    r'|\s?(?<![<>!=])[=:：]|应该是|应为|等于|[是为]'
)
VERB = re.compile(r'(?:一共|总共|共)有|共计|赚了|剩下|还剩|用了|花了|需要|[多少高大](?=\s|\*|\d)')
BEHIND_HEAD = (
    r'(?:of|in|for|to|that|which|who|where|when|such|with|from|on|at|between|among|by|per|whose'
    r'|needed|required|remaining|left|if|as|que|de|du|final)(?![a-z])|[$\\(]|(?-i:[A-Z])|العملية'
)
SUBJECT = re.compile(
    rf"(?:\*\*)?(?:the|its|our|my|their|his|her|this|an?|la|le|\w+'s)?\s?"
    rf'(?:(?:{either(WORDLISTS["adjectives"])})\s)*'
    rf'(?:{NAME}|this|that|it|which'
    r'|(?:answers?|solutions?|results?)'
    r'(?: (?:to|of|for) (?:this|the) (?:problem|question|equation))?'
    rf'|(?:{either(WORDLISTS["quantities"])})(?:\s(?:{BEHIND_HEAD}).*| final)?)',
    re.IGNORECASE | re.DOTALL,
)
SUBJECT_CHINESE = re.compile(
    r'(?:[^，。,;；:：]{0,20}(?:因式分解|化简|计算|运算|方程|不等式|本题|此题|题目|问题|最终|最后|正确|所求|参考|标准)组?的?)?'
    r'(?:答案|解|结果)|'
    rf'[^，。,;；:：]*?(?:{either(WORDLISTS["quantities in Chinese"])})|这|它|即|一共|'
    r'|(?:\$[^$=<>]{1,24}\$|[△∠]?[A-Z]{1,4}|[a-z](?:\([a-z]\))?) ?'
    r'(?:在[该此这]?个?(?:区间|定义域)[上内])?'
)
# It says what the remainder is of: when 2^20 is divided by 7.
DIVISION = re.compile(
    r'\b(remainder) (?:when|of|after) .* divided by [^\s,;]{1,12}$', re.IGNORECASE
)
# A quantity is made of the answer, or is of another: the sum of the answer and 2, 上一题.
ANSWER = re.compile(r'\b(?:of|in|to) (?:the |my |this )?(?:answer|digits)\b|答案的')
OTHERS = re.compile(r'(?:.{0,40}[,，])?比|上一|其他|另一|别的|前一|错|假|伪')
# What makes the clauses before the last one more than an argument for it.
CONDITION = re.compile(
    r'\b(?:if|when|suppose|assuming|unless|were|but|however|although|unable)\b|如果|若|假设|假如|当|但',
    re.IGNORECASE,
)
# Behind the value: is the answer; for all x; tall.
TAIL = re.compile(
    r',?\s\(?(?:since|because) .*|, not \$?[\w\\{}.+-]{1,20}\$?|, attained (?:at|when|for) .*'
    r'|,?\s(?:which |that |this )?(?:(?:is|are) (?:the|our|my)|as (?:the|our)) '
    r'(?:final |correct |only |unique )*(?:answer|solution|result|value|option|choice)s?'
    r'|,?\s(?:as (?:required|desired|requested|claimed)|and we are done)'
    r'|,?\s?(?:for|where) (?:all|every|any)(?: real| positive| numbers?| integers?| values of)*'
    r' \$?[a-zA-Z]\$?(?: ?(?:\\in|∈) ?[^ ]{1,20})?'
    r'|\swhen (?:it is )?divided by [^,;]{1,20}'
    r'|[,，]?\s?当且仅当.*|[,，]?\s?[(（]?\$?\s?[a-z]\s?(?:\\in|∈)\s?\\?(?:math|[NZRQ])[^=]{0,20}'
    r'|, (?:valid )?(?:for|where|with) \$?[a-z]\s?(?:[<>≠≥]|\\[gln]e)\s?-?[\d.]+\$?'
    r'|\s(?:in total|altogether|in all|long|wide|tall|high|deep|old|only)'
    r'|(?:就?是|为)(?:正确|最终|所求的?)?答案',
    re.IGNORECASE,
)  # fmt: skip
CLAUSE_END = re.compile(rf'[,;:，；：]|\s(?={THEN})', re.IGNORECASE)
PHRASE_LEAD = re.compile(
    rf'{OPENING.pattern}|\b(?:the|our|my|is|clear|that|it|follows|final|correct|right|best)\b'
    r'|本题|此题',
    re.IGNORECASE,
)
NAMED = re.compile(r'(?<=\S)\s?\$[^$]+=[^$]+\$$')
# Sides of a chain in words: distance / time = 150 / 2.5 = 60.
WORDED = re.compile(
    r'^(?=[^=]*(?:[a-zA-Z]{3}|[\u4e00-\u9fff]{2}))(?:[^\W\d]|[\s()+*/×÷−-])+=\s*(?=[^=]*\d)'
)
ORIGINAL = re.compile(r'[^，,]{0,4}原式\s?\$?\s?=(?:[^=]*=)*')
LINKS_LIMIT = 20
NUMBER = re.compile(r'(?:[a-z] ?= ?)?-?[\d.,]+')
MATH = re.compile(r'\$[^$]+\$|[(（][^()（）$]*[)）]')
BRACKETED = re.compile(r'\[([^\][]+)\]')  # as in: the angle is [90]
TRIMMED = ' \t\r\n.。!！,，;；*`'


def stated_value(sentence: str) -> str | None:
    """Return what the last sentence of a text states, without its frame; None if it has none.

    A question states nothing.
    The value is returned as it is written, and with all that follows it but for a known tail: it
    is for the comparison to read it wholly or not at all.
    """
    sentences = [] if sentence.rstrip().endswith(('?', '？')) else _sentences(sentence)
    clause = CLAUSE.split(sentences[-1].strip(TRIMMED))[-1] if sentences else ''
    if len(clause) > SENTENCE_LIMIT:
        return None
    original = ORIGINAL.match(clause)  # 原式 = 4 - 3 = 1
    if original:
        return clause[original.end() :].strip(TRIMMED + '$')
    tail = next((m for m in TAIL.finditer(clause) if m.end() == len(clause)), None)
    clause = clause[: tail.start()] if tail else clause
    opening = OPENING.match(clause)
    body = clause[opening.end() :] if opening else clause
    last = _last_part(body)
    found = SOLVED.match(last)  # 两边开方,解得 x = 2
    last = last[found.end() :] if found else last
    rest = _behind_link(body) or _behind_link(last) or (last if found else '')
    rest = rest or (body if opening or tail else '')
    rest = _without_complement(WORDED.sub('', rest))
    bracketed = BRACKETED.fullmatch((rest or clause).strip(TRIMMED))
    return (
        bracketed[1]
        if bracketed
        else rest.strip(TRIMMED + '$').replace('**', '').lstrip('= ') or None
    )


def _sentences(text: str) -> list[str]:
    return [one for one in STATEMENT_END.split(text) if one.strip(TRIMMED)]


def _last_part(clause: str) -> str:
    """Return what follows the last comma, if what stands before it is no doubt or condition."""
    before, _, last = _masked(clause).replace('，', ',').rpartition(',')
    argument = clause[: len(before)]
    doubted = CONDITION.search(argument) or RETRACTION.search(argument)
    return '' if doubted else clause[-len(last) :].strip()


def _masked(clause: str) -> str:
    """Return a text of the same length whose mathematics has no words and separators."""
    return MATH.sub(lambda m: '$' + 'm' * (len(m[0]) - 2) + '$', clause)


def _behind_link(clause: str) -> str:
    """Return what follows the first *is* behind a known subject, outside of mathematics.

    The value may follow with its name alone: the sum of n terms $S_n = n^2$.
    """
    shown = _masked(clause)
    named = NAMED.search(clause)
    if named and '=' not in clause[: named.start()] and is_subject(clause[: named.start()]):
        return named[0].strip()
    links = sorted((*COPULA.finditer(shown), *VERB.finditer(shown)), key=lambda m: m.start())
    for link in links[:LINKS_LIMIT]:
        subject = clause[: link.start()]
        if is_subject(subject, verb=link[0] if link.re is VERB else ''):
            equated = '=' in link[0] and re.fullmatch(NAME, subject.strip())
            return clause if equated else clause[link.end() :]
    return ''


# What links a boxed value to what it is the value of.
LINK = re.compile(r'(?:[=:：]|应该是|等于|[是为]|\b(?:is|are|be|equals?|by|of|to))$', re.IGNORECASE)
OPENED = re.compile(
    r'(?:[\s$*_({\[\]]|\\[(\[\])]|\\text(?:bf)?\{|\\begin\{\w+\*?\}|\\[,;:! ]|\\q?quad)+$'
)
CLOSED = re.compile(
    r'^(?:[\s$*_,;。，）)}\]">∎■□✓]|\.(?!\d)|\\(?:blacksquare|square|Box|qed|checkmark|hfill|[)\]])'
    r'|\\tag\*?\{[^{}]*\}|\\end\{\w+\*?\}|\\[,;:! ]|</\w+>'
    r'|\\pmod\s?(?:\d|\{\d+\}))+'
)
CLOSING = re.compile(r'(?:[\s$*.。,，;；]|\\[)\]])+$')
# What makes another value of the box behind it, and of the box before it.
CHANGED_BEFORE = re.compile(
    r'(?:[-+*/^_<>≤≥√\d|!−×÷≈≠∉¬]|\d,|\d[a-zA-Z]\s*=|[a-zA-Z]\^\{?\d\}?\s*='
    r'|\\(?!implies|therefore|to|q'
    r'|Right|right|Long|long|text|equiv|displaystyle|left|boldsymbol|begin|item|large'
    r'|Large|huge)[a-zA-Z]+'
    rf'|(?:{CHANGE.pattern})(?: of)?(?: the)?|\b(?:at (?:least|most)|than|up to|about|around|and'
    r'|or|only if|approximately|roughly|nearly|almost|between|above|below|over|under|exceeds?'
    r'|root of|from|times|more|less|fewer|greater|smaller|least|most|dozen|hundred|[mb]illion'
    r'|thousand|but)|约|过|于|至|(?<!得)到|根号|负|[至最][多少]|[百千万亿和或与及])$',
    re.IGNORECASE,
)
# A box in an argument: f(7), \\frac{1}{7}, x_{7}.
ATTACHED = re.compile(
    r'(?<!\\text)(?<!\\textbf)(?<!\\mathbf)(?<!\\mathrm)(?<!\\bf)[a-zA-Z}\d][({_^]+$'
)
PLAIN_LEAD = re.compile(
    rf'(?:{THEN}[\s,]*|and )?'
    r'(?:the (?:final |correct )?answer is|we (?:get|have|find)|答案[是为]|解?得|故'
    r'|(?:答案)?(?:改|更正)[为成])',
    re.IGNORECASE,
)
# The words behind a value that change it or go on from it: at once, and anywhere in the sentence.
GOES_ON = re.compile(
    r"(?:is|was|are|were|has|isn't|as|and|or|but|nor|plus|minus|times|which|that"
    r'|where|when|if|except'
    r'|unless|rather|of|after|over(?! (?:the|these|this|a) [a-z]{3})|to(?= \d)|out'
    r'|dozen|hundred|thousand|[mb]illion'
    r'|trillion|percent'
    r'|per(?=\s\d)|squared|cubed|factorial|choose|mod|modulo|halves|thirds|quarters|tenths|degrees'
    r'|cents?|pairs?)\b'
    r'|[-+*/^=<>~!|\\\d]|[是为的不或和与但而以及左右百千万亿打成折倍多余至到减加乘除分的之约上下等]',
    re.IGNORECASE,
)
CHANGED_BEHIND = re.compile(
    r'\b(?:would|could|before|less(?! than)|fewer than \w+ \d|more than \W?\d|not'
    r"|isn't|n't|cannot|or|but|however|so|then"
    r'|hence|thus|therefore|giving|gives?|yields?|leav(?:es|ing)|makes?|making|becom(?:es|ing)|if'
    r'|unless|except|minus|plus|times|divided|multiplied|squared|placeholder|passed'
    r'|obtained|earlier'
    r'|at (?:least|most)|first|maybe|perhaps|might|may|need|should|must|when'
    r'|overcount\w*|off|short)\b'
    r'|[=<>≤≥≠≈]|→|\\(?:to|Right|approx|ne|le|ge)|[不或但若]|所以|因此|舍|以[上下内]|左右|更正|倍|半',
    re.IGNORECASE,
)
ABOUT = re.compile(r'\(?(?:约[为等]?于?|\\approx|≈|which is about)\s?\$?\s?[\d.,]+\s?%?[$)\s]*')
TAIL_LIMIT = 160
QUESTION_WORD = re.compile(r"[a-z]+?(?=n't)|n't|[a-z]+|[\u4e00-\u9fff]")
# What takes back the statement before it.
TAKEN_BACK = re.compile(
    rf'\b(?:{SLIP}|incorrect|wrong|fails?|ruled out|eliminated|rejected|mistake\w*'
    rf'|nope|untrue|false|disregard|ignore|rather'
    r'|i doubt|should (?:be|have been)|edit|update|revised|recheck\w*|missed|forgot\w*|off by'
    r'|too many|too few|guess|on reflection|true value|then (?:add|subtract|multiply|divide))\b'
    r"|\bno[,.]|\bisn't\b|(?:\bnot|n't) (?:satisfy|work|hold|fit|solve)"
    r"|(?:\bnot|n't) (?:right|correct|the|true|it|quite|valid|possible|think|believe)\b"
    rf'|{SLIP_CHINESE}|不满足|不成立|不符合|不合|不正确|错|应该?[是为]|有误|改为|重新|作废|否定|而是|修改|漏|忘',
    re.IGNORECASE,
)
# What denies the sentence before it: no, it is 9.
CORRECTION = re.compile(rf'^\W*(?:no|{SLIP}|{SLIP_CHINESE})\s?[,，:：.!]\s*', re.IGNORECASE)
# Options B, C and D are wrong: this takes nothing back.
OTHER_OPTIONS = re.compile(
    r'(?:^|(?<=[\n.。$]))[\s*(（]*(?:the (?:other|remaining) (?:options|choices|answers)'
    r'|其[他余它](?:各项|选项|答案)|(?:options |choices |选项\s?)?(?-i:[A-J])'
    r'(?:(?:\s?[,、和及与]\s?|,? and )(?-i:[A-J])(?![a-z])){2,})\s?(?:的[^，。\n]{0,4}?)?\s?'
    r'(?:are|[均都])?\s?(?:all )?'
    r'(?:wrong|incorrect|false|不成立|错误|不正确|不对|不满足[^，。\n]{0,8})'
    r'(?=[.。)）]|\s*\Z)',
    re.IGNORECASE,
)
# What may follow a counted noun: 12 minutes to catch the elephant.
COMPLEMENT = re.compile(
    r' (?:that|which|who|in|to|for(?! each)|on|of|from|with|played|satisfying|such that|left'
    r'|needed) '
    r'(?!.*\b(?:first|rest|per|consider|cases?)\b)[^\d=<>]*'
)


def is_lead(text: str, question: str = '') -> bool:
    """Tell whether what a sentence says before a boxed value lets the value stand.

    The words before a box are the problem's and can be any, but for what makes another value of it
    and for a denial or a doubt. These may only be part of the description of a quantity: the
    probability that it does not rain is.
    """
    whole = CORRECTION.sub('', text)
    text = OPENED.sub('', whole)
    if ATTACHED.search(whole) or ANSWER.search(whole) or CHANGED_BEFORE.search(text):
        return False
    last = re.split(r'[,，]', text)[-1].strip()
    if PLAIN_LEAD.match(last) and not CONDITION.search(text):  # x cannot be 0, so the answer is
        text = last
    opening, link = OPENING.match(text), LINK.search(text)
    subject = text[opening.end() if opening else 0 : link.start() if link else None].strip()
    described = link is not None and SUBJECT.fullmatch(subject) is not None
    return described or not _own(RETRACTION, text, question)


def _own(pattern: re.Pattern[str], text: str, question: str) -> bool:
    """Tell whether a text has a word of a pattern that is not in the question's mouth already."""
    asked = set(QUESTION_WORD.findall(question.lower()))
    return any(found[0].lower() not in asked for found in pattern.finditer(text))


def is_plain_lead(text: str) -> bool:
    """Tell whether nothing but known words stands before *the answer is* in its clause."""
    text = CORRECTION.sub('', text)
    clauses = CLAUSE_END.split(text)
    known = [not PHRASE_LEAD.sub('', f'{clause} ').strip(' *#\t') for clause in clauses]
    # In "Bob: I think the answer is 7", the speaker is another.
    return all(known) or (known[-1] and is_unchanged(text))


def is_unchanged(text: str) -> bool:
    """Tell whether a description denies or doubts nothing and makes no other value of one."""
    return not RETRACTION.search(text) and not CHANGE.search(text)


def is_tail(text: str, question: str = '') -> bool:
    """Tell whether what a sentence says behind a value lets the value stand.

    It may be any short text but for words that change the value, take it back or go on from it.
    """
    text = TEXT_COMMAND.sub(r' \1 ', text)
    closed = CLOSED.match(text)
    rest = CLOSING.sub('', text[closed.end() if closed else 0 :])
    comma = ',' if closed and ',' in closed[0] else ''
    if not rest or TAIL.fullmatch(f'{comma} {rest}') or ABOUT.fullmatch(rest):
        return True
    if split_unit(_without_complement(f'1 {rest}'))[0] == '1':
        return True
    parted = closed is not None and closed[0].strip('$*)_') != ''
    parted = parted or bool(re.match(r'(?:st|nd|rd|th)\b|[^\x00-\u2fff]', rest))
    changed = GOES_ON.match(rest) or is_taken_back(rest)
    changed = changed or _own(CHANGED_BEHIND, rest, question)
    return parted and len(rest) <= TAIL_LIMIT and not changed


def is_taken_back(text: str, value: str = '') -> bool:
    """Tell whether one of the sentences that follow a statement takes it back.

    One of the two next may deny it, and no other of them may state another number.
    """
    sentences = _sentences(OTHER_OPTIONS.sub('', text[:SENTENCE_LIMIT]))[:2]
    others = (stated_value(one) for one in sentences) if value else ()
    restated = any(NUMBER.fullmatch(other) and other != value for other in others if other)
    return restated or any(TAKEN_BACK.search(one) for one in sentences)


def _without_complement(text: str) -> str:
    """Return a value and its unit without what is said of the things counted."""
    for complement in COMPLEMENT.finditer(text):
        value, whole = text[: complement.start()], complement.end() == len(text)
        if whole and is_unchanged(complement[0]) and split_unit(value)[1]:
            return value
    return text


def is_subject(text: str, verb: str = '') -> bool:
    """Tell whether a text describes a quantity, and not another that is made of it.

    With a Chinese verb behind it, such as 一共有, it may be any.
    """
    text = DIVISION.sub(r'\1', text.strip(' *,，'))
    known = verb or SUBJECT.fullmatch(text) or SUBJECT_CHINESE.fullmatch(text)
    derived = ANSWER.search(text) or OTHERS.match(text)
    return bool(known) and is_unchanged(text + verb) and not derived
