#!/usr/bin/env python3
"""Measures the fake Kafkas under one librdkafka client, in turn. See README.md.

usage: run.py [--reps N] [--fakes a,b] [--cells a,b] [--out FILE]
Environment: BIN (folder of what build.sh built), NICE (for example "nice -n -10").
"""
import argparse, contextlib, json, os, statistics, subprocess, time

BIN = os.environ.get("BIN", os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin"))
NICE = os.environ.get("NICE", "").split()
TOPICS = ["b:4", "one:1", "c:64"]
FAKES = {
    "millstream-broker": lambda: [f"{BIN}/millstream-broker", "--with-parent"] + [f"--topic={topic}" for topic in TOPICS],
    "kfake": lambda: [f"{BIN}/kfake", "1"] + TOPICS,
    "mock": lambda: [f"{BIN}/mock", "1"] + TOPICS,
}
CELLS = {
    # 5 M x 100 B into 4 partitions, acks=all.
    "produce": dict(mode="produce", topic="b", n=5_000_000, idem=0),
    "produce-idempotent": dict(mode="produce", topic="b", n=5_000_000, idem=1),
    # One at a time, each awaited.
    "latency": dict(mode="latency", topic="one", n=20_000, linger=0, idem=0),
    # 2 M x 100 B out of 64 partitions, as librdkafka's mock keeps no more than 5 MiB of each.
    "consume": dict(mode="consume", topic="c", parts=64, n=2_000_000),
}
FILL = dict(mode="produce", topic="c", n=2_000_000, keyed=1, linger=200, idem=0, warm=0)

def cpu(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

def peak_mib(pid):
    return next(int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM")) / 1024

@contextlib.contextmanager
def running(fake):
    began = time.monotonic()
    process = subprocess.Popen(NICE + FAKES[fake](), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    started = time.monotonic() - began
    try:
        yield process.pid, line.split()[0].removeprefix("bootstrap="), started
    finally:
        process.stdin.close()
        process.wait(30)

def bench(pid, bootstrap, cell):
    arguments = [f"{key}={value}" for key, value in cell.items() if key != "mode"]
    before = cpu(pid)
    ran = subprocess.run(NICE + [f"{BIN}/bench-rd", cell["mode"], f"brokers={bootstrap}"] + arguments, capture_output=True, text=True, timeout=300)
    if ran.returncode or not ran.stdout:
        raise RuntimeError(f"{cell} failed: {ran.stderr}")
    line = json.loads(ran.stdout.splitlines()[-1])
    return dict(line, server_cpu=cpu(pid) - before)

def one(fake, cells):
    with running(fake) as (pid, bootstrap, started):
        for cell in cells:
            if cell == "consume":
                bench(pid, bootstrap, FILL)
            line = bench(pid, bootstrap, CELLS[cell])
            yield dict(fake=fake, cell=cell, started_ms=started * 1e3, peak_mib=peak_mib(pid), load=os.getloadavg()[0], **line)

def table(rows):
    print("| cell | fake | records/s | x ours | its CPU, us/record | client's CPU, us/record | p50, us | peak, MiB |\n|---|---|---|---|---|---|---|---|")
    for cell in dict.fromkeys(row["cell"] for row in rows):
        ours = None
        for fake in FAKES:
            of = [row for row in rows if (row["cell"], row["fake"]) == (cell, fake)]
            if not of:
                continue
            middle = lambda value: statistics.median(value(row) for row in of)
            rate = middle(lambda row: row["n"] / row["wall"])
            ours = ours or rate
            p50 = f"{middle(lambda row: row['p50_us']):.0f}" if "p50_us" in of[0] else ""
            print(f"| {cell} | {fake} | {rate:,.0f} | {rate / ours:.2f} | {middle(lambda row: row['server_cpu'] / row['n'] * 1e6):.3f} "
                  f"| {middle(lambda row: (row['user'] + row['sys']) / row['n'] * 1e6):.3f} | {p50} | {max(row['peak_mib'] for row in of):.0f} |")
    for fake in FAKES:
        starts = [row["started_ms"] for row in rows if row["fake"] == fake]
        if starts:
            print(f"{fake}: start to ready line {min(starts):.1f} ms at best, {statistics.median(starts):.1f} in the middle")
    loads = [row["load"] for row in rows]
    print(f"load of the machine: {min(loads):.1f} to {max(loads):.1f}")

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--fakes", default=",".join(FAKES))
    parser.add_argument("--cells", default=",".join(CELLS))
    parser.add_argument("--out", default="")
    asked = parser.parse_args()
    rows = []
    for _ in range(asked.reps):
        for cell in asked.cells.split(","):
            for fake in asked.fakes.split(","):
                rows.extend(one(fake, [cell]))
    if asked.out:
        with open(asked.out, "a") as out:
            out.writelines(json.dumps(row) + "\n" for row in rows)
    table(rows)

if __name__ == "__main__":
    main()
