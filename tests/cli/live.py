# SPDX-License-Identifier: Apache-2.0
"""muster on a pseudo-terminal: what is on the screen while it runs, and after.

The terminal understands what muster may send (text, CR, LF, cursor up, erase below) and fails on anything else. Like most
terminals of today it wraps the lines again when its width changes.
"""
import fcntl, json, math, os, pty, re, select, signal, struct, subprocess, sys, termios, time, unicodedata

MUSTER, WORK = os.environ["MUSTER"], os.environ["TEST_TMP"]
n = bad = 0


def ok(what, good, *why):
    global n, bad
    n += 1
    print(("ok" if good else "not ok"), n, "-", what)
    if not good:
        bad += 1
        for text in why:
            for line in str(text).splitlines():
                print("#", line)
    sys.stdout.flush()


class Terminal:
    """Logical lines of cells; a physical line is a part of one that is at most `width` cells long."""

    def __init__(self, width):
        self.width, self.lines, self.line, self.at = width, [[]], 0, 0
        self.frames, self.strange, self.widest, self.rest = 0, [], 0, ""
        self.seen = []  # what stood there before each frame

    def physical(self):
        return [(i, k) for i, l in enumerate(self.lines) for k in range(0, max(len(l), 1), self.width)]

    def up(self, count):
        rows = self.physical()
        here = max(i for i, (line, start) in enumerate(rows) if line == self.line and start <= self.at)
        self.line, self.at = rows[max(here - count, 0)]

    def erase_below(self):
        self.seen.append(self.text())
        del self.lines[self.line][self.at:]
        del self.lines[self.line + 1:]
        self.frames += 1

    def put(self, ch):
        cells = self.lines[self.line]
        if unicodedata.combining(ch):
            if self.at:
                cells[self.at - 1] += ch
            return
        wide = unicodedata.east_asian_width(ch) in "WF"
        for cell in [ch, ""] if wide else [ch]:
            cells[self.at:self.at + 1] = [cell]
            self.at += 1
        self.widest = max(self.widest, self.at)

    def feed(self, text):
        text, self.rest = self.rest + text, ""
        while text:
            m = re.match(r"\x1b\[([\d;]*)([AJm])", text)
            if m:
                if m[2] == "A":
                    self.up(int(m[1]))
                elif m[2] == "J":
                    self.erase_below()
                text = text[m.end():]
                continue
            if re.fullmatch(r"\x1b(\[[\d;]*)?", text):  # the rest of it comes later
                self.rest = text
                return
            ch, text = text[0], text[1:]
            if ch == "\r":
                self.at = 0
            elif ch == "\n":
                self.line += 1
                if self.line == len(self.lines):
                    self.lines.append([])
                self.at = 0
            elif ord(ch) < 32 or ord(ch) == 127:
                self.strange.append(repr(ch))
            else:
                self.put(ch)

    def text(self):
        return "\n".join("".join(l) for l in self.lines)


def size(fd, columns, rows=24):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Run:
    def __init__(self, where, args, width=80, env=None, stdout_too=False):
        self.master, slave = pty.openpty()
        size(self.master, width)
        self.term, self.raw = Terminal(width), ""
        env = {**os.environ, "TERM": "xterm", **(env or {})}
        env.pop("CI", None)
        self.out = open(os.path.join(WORK, "stdout"), "w+")
        self.began = time.monotonic()
        self.p = subprocess.Popen([MUSTER, "-C", where] + args, stdin=slave, stderr=slave, stdout=slave if stdout_too else self.out,
                                  env=env, start_new_session=True)
        os.close(slave)

    def read(self, until=None, limit=60):
        """Feeds the terminal until `until` is on the screen, or to the end."""
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if not select.select([self.master], [], [], 0.05)[0]:
                continue
            try:
                data = os.read(self.master, 65536)
            except OSError:
                data = b""
            if not data:
                return until is None
            # the sanitizer's own word about coroutines is no word of muster's
            text = re.sub(r"==\d+==WARNING: ASan [^\n]*\n", "", data.decode(errors="replace"))
            self.raw += text
            self.term.feed(text)
            if until and re.search(until, self.term.text(), re.M):
                return True
        return False

    def showed(self, what):
        return any(re.search(what, s, re.M) for s in self.term.seen)

    def resize(self, width):
        size(self.master, width)
        self.term.width = width

    def finish(self):
        self.read()
        code = self.p.wait(30)
        self.took = time.monotonic() - self.began
        os.close(self.master)
        self.out.seek(0)
        self.stdout = self.out.read()
        return code


def fleet(name, count, extra="", create_ms=250):
    where = os.path.join(WORK, name)
    os.makedirs(where)
    with open(os.path.join(where, "muster.yaml"), "w") as f:
        f.write(f"cluster: t\nproviders: {{cloud: {{type: fake, create_ms: {create_ms}{extra}}}}}\n"
                f"pools:\n  gpu-with-a-long-name: {{provider: cloud, count: {count}, image: debian-12}}\n")
    return where


APPLY = ["apply", "--yes", "--parallel", "10"]


def clean(run, what, *left):
    """Nothing but `left` remains on the screen, and the cursor stands on a line of its own."""
    text = run.term.text()
    ok(f"{what}: the region is gone", not re.search(r"at work|^nodes:|creating|deleting", text, re.M), text)
    ok(f"{what}: the cursor stands at the start of a line", run.term.at == 0 and not run.term.lines[-1], text)
    ok(f"{what}: only what the terminal understands was sent", not run.term.strange, run.term.strange)
    for part in left:
        ok(f"{what}: \"{part}\" stays, once", text.count(part) == 1, text)


for width in 40, 80, 200:
    r = Run(fleet(f"w{width}", 60), APPLY + ["--json-into", os.path.join(WORK, f"w{width}.ndjson")], width)
    ok(f"{width} columns: bar, nodes and the slowest are on the screen", r.read(r"\] [1-9]\d*/61 [^\0]*^nodes: \d+ done[^\0]*^  0[^\0]*gpu-with", 30),
       r.term.text())
    ok(f"{width} columns: exit status", r.finish() == 0, r.term.text(), r.stdout)
    ok(f"{width} columns: no row is as wide as the terminal", r.term.widest < width, r.term.widest)
    ok(f"{width} columns: the names that do not fit are cut", ("…" in r.raw) == (width == 40))
    print(f"# {r.term.frames} frames in {r.took:.2f} s")
    ok(f"{width} columns: at most ten frames a second", r.term.frames <= math.ceil(r.took * 10) + 2, r.term.frames, r.took)
    clean(r, f"{width} columns")
    ok(f"{width} columns: the result is on stdout", "Done: 61 created." in r.stdout, r.stdout)
    events = [json.loads(l) for l in open(os.path.join(WORK, f"w{width}.ndjson"))]
    ok(f"{width} columns: the events are in the file", events[-1]["type"] == "result" and
       sum(e["type"] == "step_done" for e in events) == 61)

r = Run(fleet("resize", 60), APPLY, 120)
r.read(r"\] [1-9]\d*/61 .*at work")
for width in 50, 30, 90:
    r.resize(width)
    time.sleep(0.3)
    r.read(r"\] [1-9]\d*/61")
ok("resized: exit status", r.finish() == 0)
clean(r, "resized")

r = Run(fleet("failures", 60, ", error_script: [{call: create, match: gpu-with-a-long-name-7, error: quota}, {call: create, match: gpu-with-a-long-name-9, error: quota}]"),
        APPLY + ["--max-failures", "10"])
ok("failures: exit status", r.finish() == 4, r.term.text())
ok("failures: they stand above the region", r.showed(r"failed: [^\0]*^\[#*\.*\] "), r.term.text())
ok("failures: a line never shares its row with the region", all(
    not re.search(r"\S\[[#.]{24}\]|failed:.*(at work|creating)", s) for s in r.term.seen))
ok("failures: told once while it runs", len(re.findall(r"create failed:", r.term.text())) == 1, r.term.text())
ok("failures: told once at the end, folded", r.term.text().count("error: ") == 1 and
   "name-[7,9]" in r.term.text(), r.term.text())
clean(r, "failures")

for name, signo, code in ("INT", signal.SIGINT, 130), ("TERM", signal.SIGTERM, 143):
    r = Run(fleet(name, 200, create_ms=1500), APPLY)
    r.read(r"\] \d+/201  [1-9]\d* at work")
    r.p.send_signal(signo)
    ok(f"{name}: exit status", r.finish() == code, r.term.text())
    ok(f"{name}: the word of it stands above the region", r.showed(r"stopping: [^\0]*^\[#*\.*\] "), r.term.text())
    clean(r, name, "stopping: running steps finish")

r = Run(fleet("dumb", 3), APPLY, env={"TERM": "dumb"})
ok("TERM=dumb: exit status", r.finish() == 0)
ok("TERM=dumb: lines, and no control characters", "\x1b" not in r.raw and "[4/4]" in r.raw, r.raw)

r = Run(fleet("json", 3), ["--json"] + APPLY, stdout_too=True)
ok("--json on the terminal: exit status", r.finish() == 0)
ok("--json on the terminal: no region runs into the lines", "\x1b" not in r.raw and
   all(json.loads(l) for l in r.raw.splitlines() if l.startswith("{")), r.raw)

r = Run(fleet("quiet", 3), ["-q"] + APPLY)
ok("-q: exit status", r.finish() == 0)
ok("-q: nothing on stderr", r.raw == "", r.raw)

r = Run(fleet("nocolor", 3), APPLY, env={"NO_COLOR": "1"})
ok("NO_COLOR: exit status", r.finish() == 0)
ok("NO_COLOR: no colour in the region", not re.search(r"\x1b\[[\d;]*m", r.raw), r.raw)

print(f"1..{n}")
sys.exit(bad > 0)
