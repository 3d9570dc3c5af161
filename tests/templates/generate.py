# SPDX-License-Identifier: Apache-2.0
"""Templates made by a grammar, the same for the same seed."""
import random

VARS = {
    "n": 7, "z": 0, "neg": -3, "f": 2.5, "t": True, "no": False, "nil": None, "e": "", "s": "Hello World",
    "w": "one two  three", "num": "42", "u": "h\u00e9llo", "q": "it's \"x\" <b>&", "ml": "a\n b\n\nc\n",
    "l": [3, 1, 2], "ls": ["b", "A", "c", "a"], "le": [], "ln": [[1, [2, None]], [3]], "mix": [1, "a", None, 2.5, True],
    "d": {"a": 1, "b": [1, 2], "c": {"x": "y"}}, "de": {},
    "us": [{"name": "ann", "uid": 3, "g": "x"}, {"name": "bob", "uid": 1, "g": "y"}, {"name": "Cy", "uid": 2, "g": "x"}],
}
NUMBERS = ["n", "z", "neg", "f", "0", "1", "2", "3", "10", "-1", "1.5", "2.0", "100", "t", "num|int"]
TEXTS = ["s", "w", "e", "u", "num", "q", "ml", "'a'", "\"b c\"", "'x' ~ n", "''", "s[0]", "ls[0]", "d.c.x"]
LISTS = ["l", "ls", "le", "ln", "mix", "[1, 2]", "[n, 'x']", "(1, 2, 3)", "range(3)|list", "d.b", "us|map(attribute='name')|list", "s|list", "[]"]
MAPS = ["d", "d.c", "de", "{'k': 1}", "{'a': n, 'b': s}", "us[0]"]
TESTS0 = ["defined", "undefined", "none", "number", "string", "mapping", "sequence", "iterable", "even", "odd", "lower", "upper",
          "boolean", "true", "false", "integer", "float"]
TEXT_FILTERS = ["upper", "lower", "title", "capitalize", "trim", "length", "reverse", "first", "last", "list", "string", "int", "float", "e",
                "wordcount", "center(14)", "indent(2)", "indent(3, true)", "replace('o', '0')", "replace('l', 'L', 1)", "truncate(7, true)",
                "truncate(8, false, '..')", "wordwrap(5)", "default('x')", "default('x', true)", "batch(3)|list", "join('-')", "unique|list", "sort",
                "sort(reverse=true)|join", "striptags", "urlencode", "tojson", "min", "max", "slice(2)|list", "escape"]
LIST_FILTERS = ["length", "first", "last", "list", "join(',')", "join", "reverse|list", "sort", "unique|list", "sum", "min", "max", "batch(2)|list",
                "batch(2, 'x')|list", "slice(2)|list", "slice(2, 'f')|list", "map('string')|list", "map('upper')|list", "select|list",
                "reject|list", "select('number')|list", "reject('string')|list", "select('string')|map('upper')|list", "tojson",
                "default([])", "sum(start=10)", "sort(reverse=true)", "map('default', 'q')|list", "string", "count"]
MAP_FILTERS = ["length", "list", "dictsort", "items|list", "tojson", "string", "first", "dictsort(false, 'value')", "default({})",
               "dictsort(reverse=true)"]
NUMBER_FILTERS = ["abs", "int", "float", "round", "round(1)", "round(0, 'floor')", "round(1, 'ceil')", "string", "default(1)", "filesizeformat",
                  "tojson", "int|string"]
USER_FILTERS = ["map(attribute='name')|join(',')", "selectattr('uid', 'gt', 1)|map(attribute='name')|list", "rejectattr('g', 'eq', 'x')|list|length",
                "sort(attribute='name')|map(attribute='uid')|list", "sort(attribute='uid', reverse=true)|map(attribute='name')|list",
                "groupby('g')|map('first')|list", "sum(attribute='uid')", "map(attribute='uid')|max", "selectattr('name')|list|length",
                "unique(attribute='g')|map(attribute='name')|list", "max(attribute='uid')", "min(attribute='name')",
                "map(attribute='nope', default=0)|list"]
METHODS = ["upper()", "lower()", "strip()", "split()", "split('o')", "startswith('H')", "endswith('d')", "find('l')", "count('l')", "title()",
           "replace('l', 'r')", "isdigit()", "join(['x', 'y'])", "rstrip('d')", "zfill(8)", "ljust(14, '.')", "splitlines()", "swapcase()",
           "partition(' ')", "capitalize()", "isupper()", "center(15, '*')", "format(1, x=2)", "split(' ', 1)", "rsplit('o', 1)", "index('l')"]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, options):
        return self.r.choice(options)

    def number(self, depth):
        k = self.r.randrange(9)
        if depth <= 0 or k < 2:
            return self.pick(NUMBERS)
        if k < 6:
            op = self.pick(["+", "-", "*", "/", "//", "%", "+", "-"])
            return f"({self.number(depth - 1)} {op} {self.number(depth - 1)})"
        if k == 6:
            return f"({self.number(depth - 1)}|{self.pick(NUMBER_FILTERS)})"
        if k == 7:
            return f"({self.list(depth - 1)}|length)"
        return f"(-{self.pick(NUMBERS)} ** {self.pick(['2', '3', '0', '-1'])})"

    def text(self, depth):
        k = self.r.randrange(8)
        if depth <= 0 or k < 2:
            return self.pick(TEXTS)
        if k == 2:
            return f"({self.text(depth - 1)} ~ {self.any(depth - 1)})"
        if k == 3:
            return f"({self.text(depth - 1)}|{self.pick(TEXT_FILTERS)})"
        if k == 4:
            return f"{self.pick(['s', 'w', 'u', 'q', 'ml', 'num'])}.{self.pick(METHODS)}"
        if k == 5:
            return f"({self.text(depth - 1)} if {self.condition(depth - 1)} else {self.text(depth - 1)})"
        if k == 6:
            a, b, c = (self.pick(["", "", "1", "-1", "2", "-2", "0"]) for _ in range(3))
            return f"{self.pick(['s', 'w', 'u', 'l', 'ls'])}[{a}:{b}{':' + c if c not in ('', '0') else ''}]"
        return f"('%s-%s' % ({self.any(depth - 1)}, {self.any(depth - 1)}))"

    def list(self, depth):
        k = self.r.randrange(6)
        if depth <= 0 or k < 2:
            return self.pick(LISTS)
        if k == 2:
            return f"[{self.any(depth - 1)}, {self.any(depth - 1)}]"
        if k == 3:
            return f"({self.list(depth - 1)} + {self.list(depth - 1)})"
        if k == 4:
            return f"({self.list(depth - 1)}|{self.pick(LIST_FILTERS)})"
        return f"(us|{self.pick(USER_FILTERS)})"

    def map(self, depth):
        return self.pick(MAPS) if depth <= 0 or self.r.random() < 0.7 else f"({self.map(depth - 1)}|{self.pick(MAP_FILTERS)})"

    def condition(self, depth):
        k = self.r.randrange(9)
        if depth <= 0 or k == 0:
            return self.pick(["t", "no", "n", "e", "l", "nil", "d", "z"])
        if k == 1:
            return f"({self.condition(depth - 1)} {self.pick(['and', 'or'])} {self.condition(depth - 1)})"
        if k == 2:
            return f"(not {self.condition(depth - 1)})"
        if k == 3:
            return f"({self.any(depth - 1)} is {self.pick(['', 'not '])}{self.pick(TESTS0)})"
        if k == 4:
            return f"({self.number(depth - 1)} {self.pick(['<', '>', '<=', '>=', '==', '!='])} {self.number(depth - 1)})"
        if k == 5:
            return f"({self.any(depth - 1)} {self.pick(['==', '!='])} {self.any(depth - 1)})"
        if k == 6:
            return f"({self.any(depth - 1)} {self.pick(['in', 'not in'])} {self.pick([self.list, self.map, self.text])(depth - 1)})"
        if k == 7:
            return f"({self.number(0)} {self.pick(['<', '<='])} {self.number(0)} {self.pick(['<', '<=', '!='])} {self.number(0)})"
        return f"({self.number(depth - 1)} is divisibleby({self.pick(['2', '3'])}))"

    def any(self, depth):
        return self.pick([self.number, self.text, self.list, self.map, self.condition])(depth)

    def output(self):
        a, b = self.pick(["", "", "", "-", "+"]), self.pick(["", "", "", "-"])
        return "{{" + a + " " + self.any(self.r.randrange(1, 4)) + " " + b + "}}"

    def tag(self, text):
        return "{%" + self.pick(["", "", "", "-", "+"]) + " " + text + " " + self.pick(["", "", "", "-", "+"]) + "%}"

    def space(self):
        return self.pick(["", "", " ", "\n", "  \n", "\n  ", " x ", "y\n"])

    def body(self, depth):
        return "".join(self.space() + self.statement(depth) for _ in range(self.r.randrange(1, 3))) + self.space()

    def statement(self, depth):
        k = self.r.randrange(14) if depth > 0 else 0
        if k < 3:
            return self.output()
        if k < 5:
            other = self.tag("else") + self.body(depth - 1) if self.r.random() < 0.5 else ""
            return self.tag(f"if {self.condition(2)}") + self.body(depth - 1) + other + self.tag("endif")
        if k < 8:
            cond = f" if {self.pick(['x', 'x is string', 'loop is defined', 'x != 1'])}" if self.r.random() < 0.2 else ""
            inner = self.pick(["{{ x }}", "{{ loop.index }}:{{ x }}", "{{ loop.first }}{{ loop.last }}", "{{ loop.cycle('a', 'b') }}",
                               "{{ loop.revindex0 }}/{{ loop.length }}", "{{ loop.changed(x) }}", "{% if loop.index > 2 %}{% break %}{% endif %}{{ x }}",
                               "{% if x == 1 %}{% continue %}{% endif %}{{ x }}", "{% set y = x %}{{ y }}", "{{ loop.previtem is defined }}"])
            other = self.tag("else") + self.space() if self.r.random() < 0.3 else ""
            return self.tag(f"for x in {self.list(1)}{cond}") + inner + self.body(depth - 1) + other + self.tag("endfor")
        if k == 8:
            return self.tag(f"for k, v in {self.map(0)}.items()") + "{{ k }}={{ v }}" + self.space() + self.tag("endfor")
        if k == 9:
            return self.tag(f"set v = {self.any(2)}") + self.space() + "{{ v }}"
        if k == 10:
            return self.tag("set v") + self.body(depth - 1) + self.tag("endset") + "[{{ v }}]"
        if k == 11:
            return self.tag(f"with a = {self.any(1)}, b = n") + "{{ a }}{{ b }}" + self.body(depth - 1) + self.tag("endwith")
        if k == 12:
            return self.tag(f"macro m(a, b={self.any(1)})") + "<{{ a }}|{{ b }}>" + self.space() + self.tag("endmacro") + \
                "{{ m(" + self.any(1) + ") }}{{ m(b=1, a=" + self.any(1) + ") }}"
        return self.tag(f"filter {self.pick(['upper', 'trim', 'title', 'indent(2)|upper'])}") + self.body(depth - 1) + self.tag("endfilter")


def cases(seed, count):
    maker = Maker(seed)
    out = []
    for i in range(count):
        if i % 3 == 2:
            text, modes = maker.body(3), maker.pick([[], [], ["trim"], ["trim", "keep"], ["keep"]])
        else:
            text, modes = "{{ " + maker.any(3) + " }}", []
        out.append({"t": text, "v": VARS, "m": modes})
    return out
