EACH_HUNDRED = """
`python benchmarks/grading.py --many {count}`: {count} submissions of `{lesson}` in one run with two workers, copies of
the first twelve of the class, in {seconds:.0f} s. {machine}.
The load was {load:.2f} at the start, and others used {others:.2f} cores meanwhile. The last hundred took
**{time:.2f} times** as long as the second, and **{memory:.2f} times** the memory.

| submissions | s | peak, MB |
|---|---:|---:|
"""
def many(course: Course, count: int) -> Iterator[str]:
    """The lines of the last section: each hundred of many submissions."""
    folder, load = course.copy(course.several(count, len(CLASS))), quiet()
    begin, samples = time.time(), []
    took = timed(lambda: samples.extend(memory(course.ours(), folder, every=0.5)))
    with contextlib.closing(sqlite3.connect(folder / "gradebook.db")) as gradebook:
        rows = gradebook.execute("select recorded from autograder_result order by recorded").fetchall()
    if len(rows) != count:
        sys.exit(f"✗ {len(rows)} of {count} are recorded.")
    recorded = [datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() for (text,) in rows]
    bounds = list(pairwise([begin, *recorded[99::100]]))
    seconds = [end - start for start, end in bounds]
    sizes = [peak([sample for sample in samples if start <= sample[0] <= end]) for start, end in bounds]
    yield EACH_HUNDRED.format(
        count=count,
        lesson=course.lesson,
        seconds=took.seconds,
        machine=machine(),
        load=load,
        others=took.others,
        time=seconds[-1] / seconds[1],
        memory=sizes[-1] / sizes[1],
    ).rstrip("\n")
    for place, (taken, size) in enumerate(zip(seconds, sizes, strict=True)):
        name = f"{100 * place + 1} to {100 * place + 100}" + ("" if place else ", with start-up")
        yield f"| {name} | {taken:.1f} | {size:.0f} |"
