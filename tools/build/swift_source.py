# SPDX-License-Identifier: Apache-2.0
"""Parses Swift source for tools/check: the code without comments and literals, its imports and its functions."""

import re

REGEX_MAY_FOLLOW = set("(,=:[{;!&|?~^<>+-*%\n")
OPENERS, CLOSERS = "([{", ")]}"
LITERAL = re.compile(r'(#*)("""|"|/)')
# Where code may stop being code; inside an interpolation, brackets count as well.
MARK, INNER_MARK = re.compile(r'#*["/]'), re.compile(r'#*["/]|[()]')


def code_only(text):
    """The text with comments, strings and regex literals replaced by spaces, so that lines and columns are unchanged."""
    return "".join(Blanker(text).run())


class Blanker:
    def __init__(self, text):
        self.text = text
        self.out = list(text)
        self.at = 0

    def run(self):
        self.code(until=None)
        return self.out

    def blank(self, end):
        part = self.text[self.at:end]
        self.out[self.at:end] = [c if c == "\n" else " " for c in part] if "\n" in part else " " * len(part)
        self.at = end

    def code(self, until):
        """Scans code; with `until`, to the bracket that closes an interpolation."""
        depth, marks = 0, INNER_MARK if until else MARK
        while mark := marks.search(self.text, self.at):
            if until:
                self.blank(mark.start())
            self.at = mark.start()
            rest = self.text[self.at:self.at + 2]
            literal = LITERAL.match(self.text, self.at)
            if rest == "//":
                self.blank(self.line_end())
            elif rest == "/*":
                self.block_comment()
            elif literal and (literal[2] != "/" or literal[1] or self.regex_here()):
                self.literal(literal[1], literal[2])
            else:
                depth += {"(": 1, ")": -1}.get(mark[0], 0)
                if depth < 0:
                    return
                if until:
                    self.blank(self.at + 1)
                self.at = mark.start() + 1
        if until:
            self.blank(len(self.text))

    def line_end(self):
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end

    def block_comment(self):
        depth, end = 0, self.at
        for mark in re.compile(r"/\*|\*/").finditer(self.text, self.at):
            depth += 1 if mark[0] == "/*" else -1
            end = mark.end()
            if depth == 0:
                break
        self.blank(end if depth == 0 else len(self.text))

    def regex_here(self):
        """Whether this bare slash opens a regex literal: it is where an operand may be, and closed on the same line."""
        before = self.text[max(self.text.rfind("\n", 0, self.at), 0):self.at].rstrip(" ")
        following = self.text[self.at + 1:self.line_end()]
        if before and before[-1] not in REGEX_MAY_FOLLOW and not re.search(r"\b(return|in|case|try)$", before):
            return False
        return bool(re.match(r"[^ \t*/)](\\.|[^\\/])*/", following)) or bool(re.match(r"[^ \t*/)]/", following))

    def literal(self, hashes, quote):
        self.blank(self.at + len(hashes) + len(quote))
        escape, close = "\\" + hashes, quote + hashes
        marks = re.compile("|".join(map(re.escape, [escape, close, "\n"])))
        while mark := marks.search(self.text, self.at):
            self.blank(mark.start())
            if mark[0] == close:
                return self.blank(mark.end())
            if mark[0] == "\n":
                if quote != '"""' and not hashes:
                    return
                self.blank(mark.end())
            elif quote != "/" and self.text.startswith("(", mark.end()):
                self.blank(mark.end() + 1)
                self.code(until=")")
                self.blank(self.at + 1)
            else:
                self.blank(mark.end() + 1)
        self.blank(len(self.text))


def line_of(text, index):
    return text.count("\n", 0, index) + 1


IMPORT = re.compile(
    r"(?:^|;)[ \t]*((?:(?:@\w+(?:\([^)]*\))?|public|package|internal|private|fileprivate)\s+)*)"
    r"import\s+(?:(?:struct|class|enum|protocol|actor|typealias|func|var|let)\s+)?(\w+)", re.M)


def imports(code):
    """Each import as (line, modifiers, module)."""
    return [(line_of(code, match.start(2)), match[1].split(), match[2]) for match in IMPORT.finditer(code)]


DECLARATION = re.compile(
    r"(?<![\w.`])(?:(func)\s+(`?\w+`?|[-+*/%<>=!&|^~?.]+)|(init)[?!]?(?=\s*[(<])|(deinit)(?=\s*\{)"
    r"|(subscript)(?=\s*[(<])|(var)\s+(`?\w+`?)\s*:)")
CONTINUES = re.compile(r"\s*(\{|->|async\b|throws\b|rethrows\b|where\b|[,&:=(\[<>])")
CONTINUED = re.compile(r"(->|[,&:=(\[<]|\b(?:throws|async|rethrows|where|some|any|sending|borrowing|consuming))$")


def matching(code, at):
    """The index of the bracket that closes the one at `at`, or the end."""
    depth = 0
    for index in range(at, len(code)):
        depth += (code[index] in OPENERS) - (code[index] in CLOSERS)
        if depth == 0:
            return index
    return len(code) - 1


def body_start(code, at, is_variable):
    """Where the declaration whose name ends at `at` opens its body; None if it has none."""
    while at < len(code):
        char = code[at]
        if char == "{":
            return at
        if char in "([":
            at = matching(code, at)
        elif (char in ")]};" or (is_variable and char == "=" and code[at:at + 2] != "==")
                or char == "\n" and not CONTINUES.match(code, at) and not CONTINUED.search(code[:at].rstrip())):
            return None
        at += 1
    return None


LABEL = re.compile(r"^( *)(?:case\b|default\b)", re.M)


def folded(code, start, end):
    """How many lines fewer a body has if each case of a switch whose value is one expression counts as one line."""
    fewer, done = 0, start
    for match in LABEL.finditer(code, start, end):
        colon = label_end(code, match.end(), end)
        if colon is None or match.start() < done:
            continue
        done = case_end(code, colon, end, len(match[1]))
        first, *rest = code[colon + 1:done].rstrip().split("\n")
        if not first.strip():
            rest = [line for line in rest if line.strip()]
            first = rest.pop(0) if rest else ""
        least = len(first) - len(first.lstrip()) if first.startswith(" " * (len(match[1]) + 1)) else len(match[1])
        depths = [(len(line) - len(line.lstrip()), line.strip()) for line in rest if line.strip()]
        if all(depth > least or depth == least and not line.strip(")]") for depth, line in depths) and not any(
                line.endswith("{") for _, line in [*depths, (0, first)]):
            fewer += code[match.start():done].rstrip().count("\n")
    return fewer


def label_end(code, at, end):
    """The colon that ends the label of a case; None for the case of an enumeration."""
    while at < end:
        if code[at] in "([":
            at = matching(code, at)
        elif code[at] == ":":
            return at
        elif code[at] in "{}=" and code[at:at + 2] != "==":
            return None
        at += 1
    return None


def case_end(code, colon, end, indentation):
    """Where the next case of the same switch begins, or the bracket that closes it."""
    for match in re.compile(rf"^ {{{indentation}}}(?:case\b|default\b|\}})", re.M).finditer(code, colon, end + 1):
        return match.start()
    return end


def functions(code):
    """Each function, initializer, subscript and computed property with a body, as (name, line, number of lines); a case of a
    switch that is one expression is one line."""
    found = []
    for match in DECLARATION.finditer(code):
        is_variable = match[6] is not None
        start = body_start(code, match.end(), is_variable)
        if start is None:
            continue
        end = matching(code, start)
        body = set(re.findall(r"\w+", code[start:end]))
        if is_variable and body and body <= {"get", "set", "async", "throws", "nonmutating", "mutating", "borrowing"}:
            continue
        name = match[2] or match[3] or match[4] or match[5] or match[7]
        line = line_of(code, match.start())
        found.append((name, line, line_of(code, end) - line + 1 - folded(code, start, end)))
    return found
