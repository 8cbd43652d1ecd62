"""Units before or after a value."""

from __future__ import annotations

import re

__all__ = ['UNITS', 'WORDS', 'split_unit']

# Spelling → the unit's name.
NAMES = {
    'cm': 'cm centimeter centimeters centimetre centimetres 厘米 公分',
    'mm': 'mm millimeter millimeters millimetre millimetres 毫米',
    'm': 'm meter meters metre metres 米',
    'km': 'km kilometer kilometers kilometre kilometres 千米 公里',
    'in': 'in inch inches 英寸',
    'ft': 'ft foot feet 英尺',
    'yd': 'yd yard yards',
    'mi': 'mi mile miles 英里',
    'g': 'g gram grams 克',
    'kg': 'kg kilogram kilograms 千克 公斤',
    'lb': 'lb lbs pound pounds 磅',
    't': 'ton tons tonne tonnes 吨',
    's': 's sec secs second seconds 秒',
    'min': 'min mins minute minutes 分钟',
    'h': 'h hr hrs hour hours 小时',
    'day': 'day days 天 日',
    'week': 'week weeks 周 星期',
    'month': 'month months 个月 月',
    'year': 'year years yr yrs 年',
    'L': 'l L liter liters litre litres 升',
    'mL': 'ml mL milliliter milliliters 毫升',
    'degree': 'degree degrees deg ^{\\circ} 度',
    'USD': 'USD dollar dollars 美元',
    'cent': 'cent cents ¢ 美分',
    'yuan': 'yuan rmb RMB ¥ 元 块',
    'EUR': '€ euro euros 欧元',
    'GBP': '£',
    'mph': 'mph',
    'km/h': 'km/h kmh kph 千米/时 公里/小时 千米/小时',
    'm/s': 'm/s 米/秒',
    '1': 'unit units 个 只 人 种 次 张 本 名 条 项 颗 件 页 块 位 组 对 辆 棵 根 支 枚 双 头 '
    'people students times ways books apples points integers solutions values',
}  # fmt: skip
UNITS = {spelling: name for name, spellings in NAMES.items() for spelling in spellings.split()}
LEADING = ('USD', '¥', '€', '£')
WORDS = '|'.join(re.escape(word) for word in sorted(UNITS, key=len, reverse=True))
# The power of a unit, cm^2; a unit at the end; one with its power in words, square cm; and
# \\text{…} at the end, with any words.
POWER = r'(?:\^\s?\{?\s?([23])\s?\}?)?'
SUFFIX = re.compile(rf'(?<=[\d\s)}}.])({WORDS}){POWER}$')
PRE_POWER = re.compile(rf'(?<=[\d\s)}}.])(square|sq\.?|cubic|cu\.?|平方|立方)\s?({WORDS})$')
BRACED = re.compile(rf'\\text\{{([^{{}}]*)\}}\s?{POWER}$')
# Words in \\text{…} that change a value instead of measuring it: 3 \\text{ million}.
FACTOR = re.compile(
    r'\b(?:hundred|thousand|million|billion|trillion|dozen|pairs?|half|halves|thirds?|quarters?|more|less|fewer'
    r'|least|most|greater|negative|not|base|mod|squared|cubed|factorial|plus|minus|over|if|for|when'
    r'|where)\b|[百千万亿倍]'
)
FUNCTION = re.compile(r'\\(?:sin|cos|tan|cot|sec|csc|arc[a-z]{3})(?![a-zA-Z])')
POWERS = {'square': '2', 'sq': '2', '平方': '2', 'cubic': '3', 'cu': '3', '立方': '3'}


def split_unit(text: str) -> tuple[str, str]:
    """Return (value, unit) of a value with a unit before or after it; (text, '') if none.

    A unit in ``\\text{…}`` may be any words; elsewhere only known units count.
    """
    for leading in LEADING:
        if text.startswith(leading):
            return text[len(leading) :].strip(), UNITS.get(leading, leading)
    if text.startswith('-USD'):
        return '-' + text[4:].strip(), 'USD'
    match = BRACED.search(text)
    if match and _is_value(text[: match.start()]):
        name = match.group(1).strip()
        pre = PRE_POWER.fullmatch(f' {name}'.lstrip()) or re.fullmatch(
            rf'(square|sq\.?|cubic|cu\.?|平方|立方)\s?({WORDS})', name
        )
        if pre:
            unit = UNITS[pre.group(2)] + POWERS[pre.group(1).rstrip('.')]
        elif name in UNITS:
            unit = UNITS[name]
        else:
            unit = re.sub(r'[\s.]+', ' ', name).lower()
            if re.fullmatch(r'(?:and|or|,|\s)*', unit) or FACTOR.search(unit):
                return text, ''
        return text[: match.start()].strip(), unit + (match.group(2) or '')
    match = PRE_POWER.search(text)
    if match and _is_value(text[: match.start()]):
        power = POWERS[match.group(1).rstrip('.')]
        return text[: match.start()].strip(), UNITS[match.group(2)] + power
    match = SUFFIX.search(text)
    if match and FUNCTION.search(text):  # the argument of \\sin 30^{\\circ}
        return text, ''
    if match and _is_value(text[: match.start()]) and _is_unit_place(text, match):
        unit = UNITS[match.group(1)] + (match.group(2) or '')
        return text[: match.start()].strip(), unit
    return text, ''


def _is_value(text: str) -> bool:
    return bool(re.search(r'\d|\\pi|\\sqrt|\\frac', text)) and not re.search(r'[=<>]', text)


def _is_unit_place(text: str, match: re.Match[str]) -> bool:
    """Distinguish the units of ``5 m`` and ``15N`` from the variables of ``5m + 3`` and ``2h``."""
    word = match.group(1)
    before = text[: match.start()].rstrip()
    if len(word) > 1 or not word.isascii():
        return True
    spaced = match.start() and text[match.start() - 1] == ' '
    return bool(spaced and re.fullmatch(r'[+-]?[\d.,]+', before))
