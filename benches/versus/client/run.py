#!/usr/bin/env python3
"""Runs the client workloads one at a time and appends one JSON line per run. See README.md.

usage: run.py --out FILE [--reps N] [--cells a,b] [--clients a,b] [--lock FILE]
Environment: BIN (folder of built clients), BROKER (host:port), BROKER_PID (to report the broker's CPU).
"""
import argparse, fcntl, json, os, subprocess, sys, time

BIN = os.environ.get("BIN", "bin")
BROKER = os.environ.get("BROKER", "127.0.0.1:9092")
PID = os.environ.get("BROKER_PID")
NICE = os.environ.get("NICE", "").split()  # for example "nice -n -10" on a shared machine
CLIENTS = {
    "librdkafka": "bench-rd", "java": "bench-java", "franz-go": "bench-franz",
    "krafka": "bench-krafka", "millstream": "bench-millstream", "confluent-rust": "bench-confluent", "rskafka": "bench-rskafka", "ceiling": "ceiling",
}
P = dict(mode="produce", new=4)
CELLS = {
    "P1-none": dict(P, n=5000000, codec="none", idem=1),
    "P1-none-noidem": dict(P, n=5000000, codec="none", idem=0),
    "P1-lz4": dict(P, n=5000000, codec="lz4", idem=1),
    "P1-zstd": dict(P, n=5000000, codec="zstd", idem=1),
    "P2-none": dict(P, n=1000000, size=1024, codec="none", idem=1),
    "P2-lz4": dict(P, n=1000000, size=1024, codec="lz4", idem=1),
    "P3-keyed": dict(P, n=5000000, keyed=1, codec="none", idem=1),
    "P4-latency": dict(mode="latency", new=1, parts=1, n=10000, linger=0),
    "P5-load": dict(mode="load", new=4, n=50000, linger=5),
    "P5-load-linger0": dict(mode="load", new=4, n=50000, linger=0),
    "C1-none": dict(mode="consume", topic="c-none", n=5000000),
    "C2-lz4": dict(mode="consume", topic="c-lz4", n=5000000),
    "C3-zstd": dict(mode="consume", topic="c-zstd", n=5000000),
    "C4-committed": dict(mode="consume", topic="c-txn", n=2000000, iso="read_committed"),
    "T1-txn100": dict(mode="txn", new=4, n=500, per=100),
}
# Where a client cannot do a cell.
SKIP = {
    "rskafka": {"P1-none", "P2-none", "P2-lz4", "P3-keyed", "P5-load", "P5-load-linger0", "C4-committed", "T1-txn100"},
    "ceiling": set(CELLS) - {"P1-none", "P2-none", "C1-none", "C2-lz4", "C3-zstd"},
}
# The client's nearest equivalent of a stated setting, or the setting its own guide recommends for bulk reading.
EXTRA = {
    ("krafka", "consume"): dict(maxpoll=100000, maxbuf=100000),
    ("rskafka", "produce"): dict(idem=0), ("ceiling", "produce"): {},
}

def broker_cpu():
    if not PID:
        return 0.0
    f = open(f"/proc/{PID}/stat").read().rsplit(")", 1)[1].split()
    return (int(f[11]) + int(f[12])) / 100

def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True); ap.add_argument("--reps", type=int, default=3)
    ap.add_argument("--cells", default=",".join(CELLS)); ap.add_argument("--clients", default=",".join(CLIENTS))
    ap.add_argument("--lock", default=""); ap.add_argument("--set", default="", help="k=v,k=v extra arguments"); ap.add_argument("--tag", default="")
    ap.add_argument("--timeout", type=int, default=120); ap.add_argument("--preload", default="")
    a = ap.parse_args()
    extra_all = dict(x.split("=") for x in a.set.split(",") if x)
    dead = set()
    for rep in range(a.reps):
        for cell in a.cells.split(","):
            lock = open(a.lock, "w") if a.lock else None
            if lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # one hold for a cell, so that its clients see the same machine
            for cl in a.clients.split(","):
                if cell not in SKIP.get(cl, ()) and (cl, cell) not in dead:
                    one(a, extra_all, dead, rep, cell, cl)
            if lock:
                lock.close()

def one(a, extra_all, dead, rep, cell, cl):
    k = dict(CELLS[cell]); mode = k.pop("mode"); new = k.pop("new", 0)
    topic = k.pop("topic", None) or f"b-{cell}-{cl}-{rep}-{int(time.time())}".lower()
    k.update(EXTRA.get((cl, mode), {})); k.update(extra_all)
    m = "fetch" if cl == "ceiling" and mode == "consume" else mode
    argv = NICE + [f"{BIN}/{CLIENTS[cl]}", m, f"topic={topic}"] + [f"{x}={y}" for x, y in k.items()]
    argv.append(f"port={BROKER.split(':')[1]}" if cl == "ceiling" else f"brokers={BROKER}")
    if new:
        subprocess.run([f"{BIN}/adm", BROKER, "create", topic, str(new)], check=True)
        time.sleep(0.3)
    env = dict(os.environ, **({"LD_PRELOAD": a.preload} if a.preload else {}))
    b0 = broker_cpu(); t0 = time.time(); load = os.getloadavg()[0]
    p = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    try:
        out, err = p.communicate(timeout=a.timeout)
    except subprocess.TimeoutExpired:
        p.kill(); out, err = p.communicate(); err += b" TIMEOUT"
    b1 = broker_cpu()
    if new:
        subprocess.run([f"{BIN}/adm", BROKER, "delete", topic])
    r = {"cell": cell, "who": cl, "rep": rep, "rc": p.returncode, "tag": a.tag, "broker_cpu": round(b1 - b0, 2), "total_s": round(time.time() - t0, 2), "load1": load}
    try:
        r.update(json.loads(out.decode().strip().splitlines()[-1]))
    except Exception:
        r["error"] = (err.decode(errors="replace")[-400:] or out.decode(errors="replace")[-200:]); dead.add((cl, cell))
    with open(a.out, "a") as f:
        f.write(json.dumps(r) + "\n")
    print(f"{rep} {cell:16} {cl:14} ", {x: r.get(x) for x in ("wall", "user", "sys", "p50_us", "p99_us", "failed", "error") if r.get(x) is not None}, flush=True)

main()
