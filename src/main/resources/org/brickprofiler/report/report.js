// @ts-check
/*
 * Draws the page of a profile, whose keys are those of JsonReport. page.js, requests.js and lines.js precede it in the
 * same module.
 */

const profile = needed("profile");
/** The file of the profile, if it is known. */
const source = held("source");
const bricks = profile.bricks;
const labels = labelsOf(bricks.map((brick) => brick.name));
const brickFacts = needed("brick-facts");
const brickNs = profile.total_ns;
/** The time of all bricks for shares. */
const shareNs = sum(bricks, netOrTotalNs);
const netBricks = bricks.filter((brick) => netNs(brick) !== undefined);
const wallNs = profile.wall_ns;
// The profile of a trace has a wall time, but no threads and no overhead of a recording.
const isOfTrace = wallNs > 0 && profile.threads === 0 && !profile.virtual_threads && !profile.overhead_ns;
const samples = sum(bricks, (brick) => brick.count);
const stepsOf = profile.steps;
const phases = stepsOf === undefined ? [] : stepsOf.phases.filter((each) => each.count > 0);
const timeline = held("timeline");
const roofline = profile.roofline;
const kernelRoof = held("kernel-roofline");
const account = held("account");
const run = profile.run || {};
const graph = graphOfPass();
const nodes = graph === undefined ? [] : nodesOf(graph);
const layerTimes = layerTimesOfProfile();

// ---- the state of the page in its address ----

/** @type {PageState} */
const EMPTY_STATE = { brick: "", phase: "", filter: "" };

/** What the page shows; the address holds it. */
let state = EMPTY_STATE;

/**
 * Shows a state in the section of bricks and, if asked, moves there; a profile without bricks has no such section.
 *
 * @type {(wanted: PageState, isMoving: boolean) => void}
 */
let showState = () => {};

/**
 * Returns the part of an address that holds a state; empty for an empty state.
 *
 * @param {Partial<PageState>} held
 */
function addressOf(held) {
  const words = new URLSearchParams(Object.entries(held).filter(([, value]) => value !== "")).toString();
  return words === "" ? "" : "#" + words;
}

/**
 * Returns the state that an address holds; undefined if it names a section.
 *
 * @param {string} hash
 * @returns {PageState | undefined}
 */
function stateOf(hash) {
  const words = new URLSearchParams(hash.slice(1));
  const isState = hash === "" || Object.keys(EMPTY_STATE).some((key) => words.has(key));
  return isState ? { brick: words.get("brick") ?? "", phase: words.get("phase") ?? "", filter: words.get("filter") ?? "" } : undefined;
}

/**
 * Writes a change of the state into the address, without an entry in the history.
 *
 * @param {Partial<PageState>} change
 */
function keepState(change) {
  state = { ...state, ...change };
  const address = new URL(location.href);
  address.hash = addressOf(state);
  if (address.href !== location.href) {
    history.replaceState(null, "", address.href);
  }
}

/** Shows the state of the address: now, when it changes, and when a link leads to the same address again. */
function followAddress() {
  const apply = () => {
    const wanted = stateOf(location.hash);
    if (wanted !== undefined) {
      showState(wanted, location.hash !== "");
    }
  };
  addEventListener("hashchange", apply);
  document.addEventListener("click", ({ target }) => {
    const link = target instanceof Element ? target.closest("a[href]") : null;
    if (link !== null && location.hash !== "" && link.getAttribute("href") === location.hash) {
      apply();
    }
  });
  if (location.hash !== "") {
    apply();
    // Pictures above the row get their sizes when the page is laid out for the first time.
    requestAnimationFrame(() => requestAnimationFrame(apply));
  }
}

/**
 * Returns the address of the row of a brick, in a phase if the brick ran in it; undefined if there is no such brick.
 *
 * @param {string} name
 * @param {string} [phase]
 */
function rowAddress(name, phase = "") {
  const inPhase = (profile.phases ?? []).find((each) => each.phase === phase);
  const isInPhase = inPhase !== undefined && inPhase.bricks.some((brick) => brick.name === name);
  return labels.has(name) ? addressOf({ brick: name, phase: isInPhase ? phase : "" }) : undefined;
}

/**
 * Returns the name of a brick as a link to its row; without a link if there is no such brick.
 *
 * @param {string} name
 * @param {string} [phase]
 */
function brickLink(name, phase) {
  const href = rowAddress(name, phase);
  return href === undefined ? named(name) : html("a", { class: "to-row", href }, named(name, labels.get(name)));
}

// ---- how durations are spread ----

/**
 * Returns the lowest duration of a bucket of LatencyDistribution, ns. There are 64 buckets for each power of two.
 *
 * @param {number} bucket
 */
function lowestNs(bucket) {
  const shift = Math.max(0, Math.floor(bucket / 64) - 1);
  return (bucket - shift * 64) * 2 ** shift;
}

/**
 * Returns a histogram: columns of equal width on a logarithmic scale from the shortest to the longest sample.
 *
 * @param {Extremes} brick
 * @param {Latency} latency
 * @param {number} columns
 */
function histogram(brick, latency, columns) {
  const scale = logarithmic(brick);
  const counts = new Array(columns).fill(0);
  for (const [bucket, n] of latency.buckets) {
    const from = columns * scale(Math.max(lowestNs(bucket), 1));
    const to = Math.max(columns * scale(lowestNs(bucket + 1)), from + 1e-6);
    const first = Math.min(columns - 1, Math.max(0, Math.floor(from)));
    const last = Math.min(columns - 1, Math.max(first, Math.ceil(to) - 1));
    const length = Math.min(columns, to) - Math.max(0, from);
    for (let column = first; column <= last; column++) {
      const part = Math.min(to, column + 1) - Math.max(from, column);
      counts[column] += first === last || length <= 0 ? n / (last - first + 1) : (n * Math.max(0, part)) / length;
    }
  }
  return counts;
}

/**
 * Returns a logarithmic scale: a function from a duration to 0 for the brick's shortest sample up to 1 for its longest.
 *
 * @param {Extremes} brick
 */
function logarithmic(brick) {
  const low = Math.log(Math.max(1, brick.min_ns));
  const high = Math.log(Math.max(2, brick.max_ns));
  return (/** @type {number} */ ns) => (high > low ? Math.min(1, Math.max(0, (Math.log(Math.max(1, ns)) - low) / (high - low))) : 0.5);
}

/**
 * @param {number[]} counts
 * @param {number} width
 * @param {number} height
 */
function outline(counts, width, height) {
  const largest = Math.max(...counts);
  const step = width / counts.length;
  let path = "M0 " + height;
  counts.forEach((n, i) => {
    // A column with any sample is at least 1 px high.
    const y = height - (n === 0 ? 0 : Math.max(1, (n / largest) * (height - 1)));
    path += "V" + y.toFixed(1) + "H" + ((i + 1) * step).toFixed(1);
  });
  return path + "V" + height + "Z";
}

/** @param {Distribution} brick */
function spreadText(brick) {
  const percentiles = brick.latency
    ? ", half within " + duration(1e3 * brick.latency.p50_us) + ", 99 % within " + duration(1e3 * brick.latency.p99_us)
    : ", " + duration(ratio(brick.total_ns, brick.count)) + " on average";
  return "From " + duration(brick.min_ns) + " to " + duration(brick.max_ns) + percentiles;
}

/**
 * Returns whether the shortest duration is known. It is not if a table has only the sum, or a window only a bound.
 *
 * @param {Distribution} brick
 */
function isMinKnown(brick) {
  return brick.min_at_least_ns === undefined && (brick.max_ns > 0 || brick.total_ns === 0 || brick.max_at_most_ns !== undefined);
}

/**
 * Returns whether the longest duration is known, likewise.
 *
 * @param {Distribution} brick
 */
function isMaxKnown(brick) {
  return brick.max_at_most_ns === undefined && (brick.max_ns > 0 || brick.total_ns === 0);
}

/** @param {Distribution} brick */
function spread(brick) {
  if (brick.count === 0 || !isMinKnown(brick) || !isMaxKnown(brick)) {
    return NONE;
  }
  const width = 108;
  const height = 22;
  const scale = logarithmic(brick);
  const picture = svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spreadText(brick) },
    title(spreadText(brick)),
  );
  picture.style.setProperty("--colour", colour(brick.category));
  if (brick.latency) {
    picture.append(svg("path", { class: "shape", d: outline(histogram(brick, brick.latency, 54), width, height) }));
    picture.append(tick("p50", width * scale(1e3 * brick.latency.p50_us), 0, height));
    picture.append(tick("p99", width * scale(1e3 * brick.latency.p99_us), 0, height));
  } else {
    const mean = width * scale(ratio(brick.total_ns, brick.count));
    picture.append(svg("line", { class: "line", x1: 0, x2: width, y1: height / 2, y2: height / 2 }));
    picture.append(tick("p50", mean, 5, height - 5));
  }
  return picture;
}

/**
 * @param {string} kind
 * @param {number} x
 * @param {number} from
 * @param {number} to
 */
function tick(kind, x, from, to) {
  return svg("line", { class: kind, x1: x.toFixed(1), x2: x.toFixed(1), y1: from, y2: to });
}

/**
 * Draws the distribution of an opened brick, with its scale.
 *
 * @param {Distribution} brick
 * @param {Latency} latency
 */
function largeHistogram(brick, latency) {
  const width = Math.min(760, Math.max(240, innerWidth - 96));
  const top = 34;
  const height = 100;
  const bottom = top + height;
  const scale = logarithmic(brick);
  const picture = svg(
    "svg",
    { width, height: bottom + 24, viewBox: `-4 0 ${width + 8} ${bottom + 24}`, role: "img", "aria-label": spreadText(brick) },
    svg("path", {
      class: "shape",
      d: outline(histogram(brick, latency, 190), width, height),
      transform: `translate(0 ${top})`,
    }),
    svg("line", { class: "axis", x1: 0, x2: width, y1: bottom, y2: bottom }),
  );
  picture.style.setProperty("--colour", colour(brick.category));
  const free = [-Infinity, -Infinity];
  /** @type {[label: string, key: Percentile][]} */
  const marks = [["p50", "p50_us"], ["p90", "p90_us"], ["p99", "p99_us"], ["p99.9", "p999_us"]];
  for (const [label, key] of marks) {
    const x = width * scale(1e3 * latency[key]);
    const row = free[0] <= x ? 0 : free[1] <= x ? 1 : -1;
    picture.append(tick(label === "p50" ? "p50" : "p99", x, row < 0 ? top : 2 + 14 * row, bottom));
    if (row >= 0) {
      const text = label + " " + duration(1e3 * latency[key]);
      const end = x + 6 + 6.6 * text.length > width;
      picture.append(
        svg("text", { class: "strong", x: end ? x - 4 : x + 4, y: 11 + 14 * row, "text-anchor": end ? "end" : "start" }, text),
      );
      free[row] = x + 12 + 6.6 * text.length;
    }
  }
  let last = -Infinity;
  for (const ns of steps(brick.min_ns, brick.max_ns)) {
    const x = width * scale(ns);
    if (x - last >= 64) {
      picture.append(svg("line", { class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 4 }));
      picture.append(svg("text", { x, y: bottom + 17, "text-anchor": x < 24 ? "start" : x > width - 24 ? "end" : "middle" }, step(ns)));
      last = x;
    }
  }
  return picture;
}

/**
 * Returns round durations within a range: 1, 2 and 5 times powers of ten, or, if these are fewer than three, the
 * multiples of the largest power of ten that is not longer than the range.
 *
 * @param {number} fromNs
 * @param {number} toNs
 */
function steps(fromNs, toNs) {
  const round = [];
  for (let power = 1; power <= toNs; power *= 10) {
    round.push(...[1, 2, 5].map((digit) => digit * power).filter((ns) => ns >= fromNs && ns <= toNs));
  }
  if (round.length >= 3) {
    return round;
  }
  const width = 10 ** Math.floor(Math.log10(Math.max(1, toNs - fromNs)));
  const parts = [];
  for (let ns = Math.ceil(fromNs / width) * width; ns <= toNs; ns += width) {
    parts.push(ns);
  }
  return parts;
}

/**
 * Returns the smallest duration of 1, 2 or 5 times a power of ten that is not below a duration.
 *
 * @param {number} ns
 * @returns {number}
 */
function roundUp(ns) {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, ns)));
  const digit = [1, 2, 5].find((each) => each * power >= ns) ?? 10;
  return digit * power;
}

/** @param {number} ns */
function step(ns) {
  const unit = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(1, ns)) / 3 + 1e-9)));
  return Number((ns / 1000 ** unit).toPrecision(6)) + NARROW + TIME_UNITS[unit];
}

// ---- the sections, in the order in which an engineer looks ----

/** @param {string} text */
function moment(text) {
  return text.replace(/(\.\d{3})\d*Z$/, "$1Z").replace("T", " ").replace("Z", " UTC");
}

function period() {
  return profile.ended_at === "1970-01-01T00:00:00Z"
    ? "Taken at a time that is not known"
    : moment(profile.started_at) + " to " + moment(profile.ended_at);
}

function headline() {
  const run = runLine();
  return html("span", {}, run === "" ? "" : html("bdi", {}, run + "; "), period());
}

/** Returns the identity of the run, in the words of the text report. */
function runLine() {
  const { run_id: run, rank, world_size: ranks, host, device, model, precision, commit, phase, first_step: first, last_step: last, window } =
    profile.identity || {};
  const parts = present([
    run !== undefined && "run " + run,
    rank !== undefined && "rank " + rank + (ranks === undefined ? "" : " of " + ranks),
    host !== undefined && "on " + host,
    device,
    present([model, precision]).join(" "),
    commit !== undefined && "commit " + commit,
    phase,
    first !== undefined && "steps " + first + " to " + last,
    window !== undefined && "window " + window,
  ]);
  return visible(parts.filter((part) => part !== "").join(", "));
}

/**
 * Returns names, separated by commas.
 *
 * @param {string[]} names
 */
function listed(names) {
  return names.flatMap((name, i) => [i === 0 ? "" : ", ", brickLink(name)]);
}

/** Returns the brick whose elements are the tokens of a pass, because every token passes it once. */
function tokenBrick() {
  const once = ["Sampling", "LmHead", "Embedding"].map((name) => bricks.find((brick) => brick.name === name));
  return once.find((brick) => brick !== undefined && brick.total_elements > 0);
}

/** @type {[label: string, key: "time_to_first_token" | "time_per_output_token"][]} */
const WAITS = [["Time to first token", "time_to_first_token"], ["Time per output token", "time_per_output_token"]];

/** @param {Latency} latency */
function valuesOf(latency) {
  return sum(latency.buckets, ([, n]) => n);
}

/**
 * @param {string} label
 * @param {Latency | undefined} latency
 */
function waitFigure(label, latency) {
  return latency === undefined || valuesOf(latency) === 0
    ? ""
    : figure(label, time(1e3 * latency.p50_us), "p50 of " + count(valuesOf(latency)) + "; p99 " + duration(1e3 * latency.p99_us));
}

function figures() {
  const list = html("dl", { class: "figures" });
  const tokens = tokenBrick();
  const decode = phases.find((each) => each.phase === "decode") || phases[0];
  const serving = held("serving");
  if (serving !== undefined) {
    const inSteps = decode === undefined ? "" : "; " + number(decode.output_tokens_per_s) + " while a " + decode.phase + " step ran";
    const live = "over the " + duration(serving.live_ns) + " in which a request was live";
    list.append(figure("Output tokens per second", number(serving.output_tokens_per_s), live + inSteps));
    list.append(figure("Requests per second", number(serving.finished_per_s), "that finished, over the same time"));
  } else if (stepsOf !== undefined && decode) {
    const base = "in " + plural(decode.count, decode.phase + " step", decode.phase + " steps") + ", of the time in which one was under way";
    list.append(figure("Tokens per second", number(decode.output_tokens_per_s), count(decode.output_tokens) + " " + base));
  } else if (tokens && wallNs > 0) {
    const n = tokens.total_elements;
    const base = "with the profiler on, by the elements of " + tokens.name;
    list.append(figure("Tokens per second", number((n * 1e9) / wallNs), count(n) + " in " + duration(wallNs) + " " + base));
    list.append(figure("Time per token", time(wallNs / n), duration(shareNs / n) + " of brick time, summed over threads"));
  } else if (profile.total_tokens > 0) {
    list.append(figure("Elements per second", rate(profile.total_throughput), "of summed brick time"));
  }
  const waited = profile.requests || stepsOf;
  if (waited !== undefined) {
    list.append(...WAITS.map(([label, key]) => waitFigure(label, waited[key])).filter((wait) => wait !== ""));
  }
  list.append(
    figure(
      "Brick time",
      time(shareNs),
      (netBricks.length > 0 ? "net, " + duration(brickNs) + " recorded, " : "")
        + "summed over " + plural(samples, "sample", "samples")
        + (wallNs > 0 ? ", " + percent(100 * ratio(shareNs, wallNs)) + "\u00a0% of wall time" : ""),
    ),
  );
  list.append(
    wallNs > 0
      ? figure("Wall time", time(wallNs), isOfTrace ? "from first to last event" : "with the profiler on; " + threads())
      : figure("Threads", profile.threads === 0 ? NONE : count(profile.threads), threads()),
  );
  return list;
}

function threads() {
  if (profile.virtual_threads) {
    return count(profile.threads) + " platform threads recorded, and virtual threads, which are not counted";
  }
  return profile.threads === 0 && samples > 0
    ? "the number of threads is not known"
    : plural(profile.threads, "thread", "threads") + " recorded";
}

function recordedCategories() {
  return profile.categories.filter((category) => category.count > 0).sort((a, b) => b.total_ns - a.total_ns);
}

/** Returns the findings, each with the link to the section that shows more. */
function findings() {
  const found = profile.findings || [];
  return found.length === 0 ? "" : section("Findings", "", html("ol", { class: "findings" }, found.map(findingItem)));
}

/**
 * The section that shows more about a finding of a kind.
 *
 * @type {Record<string, string>}
 */
const FINDING_SECTIONS = {
  requests_queue: "Requests",
  requests_stall: "Requests",
  requests_wait: "Requests",
  own_work: "Requests",
  delivery: "Requests",
  idle: "Steps",
  between_bricks: "Steps",
  slow_steps: "Steps",
  slowest_steps: "Steps",
  no_processor: "Steps",
  below_roof: "Distance to the roof",
};

/**
 * Returns a next step, with the name of the profile's file in its command if it is known; empty if the step makes this
 * page.
 *
 * @param {string} next
 */
function nextStep(next) {
  const command = source === undefined ? next : next.replace(" FILE ", () => " " + source + " ");
  return next.includes("--html OUT") ? "" : " Next: " + visible(command) + ".";
}

/** @param {Finding} finding */
function findingItem(finding) {
  // The first number with its unit is the number of the finding.
  const [before = "", figure = "", after = ""] = splitAtFigure(visible(finding.sentence));
  const next = html("span", { class: "next" }, finding.next === undefined ? "" : nextStep(finding.next));
  const target = FINDING_SECTIONS[finding.kind];
  const href = rowAddress(finding.place ?? "");
  const row = href === undefined ? "" : [" ", html("a", { href }, "Show ", named(finding.place ?? ""))];
  return html("li", target === undefined ? {} : { "data-section": target }, before, html("b", {}, figure), after, next, row);
}

/** @param {string} sentence */
function splitAtFigure(sentence) {
  const figure = /(?:^|(?<= ))\d[\d.,]* (?:%|ns|us|ms|s)(?![\w%])/.exec(sentence);
  return figure === null
    ? [sentence, "", ""]
    : [sentence.slice(0, figure.index), figure[0], sentence.slice(figure.index + figure[0].length)];
}

/**
 * Returns links to sections, which stay at the top of the window, and adds to each finding the link to its section.
 *
 * @param {(Leaf | Leaf[])[]} sections
 */
function sectionBar(sections) {
  const heads = sections.flatMap((part) => {
    const head = part instanceof Element ? part.querySelector("h2[id]") : null;
    return head === null ? [] : [head];
  });
  for (const part of sections) {
    if (part instanceof Element) {
      part.querySelectorAll("li[data-section]").forEach((item) => {
        const head = heads.find((each) => each.textContent === item.getAttribute("data-section"));
        if (head) {
          item.append(" ", html("a", { href: "#" + head.id }, "Show " + head.textContent));
        }
      });
    }
  }
  if (heads.length < 2) {
    return "";
  }
  const bar = html("nav", { class: "sections", "aria-label": "Sections" }, heads.map((head) => html("a", { href: "#" + head.id }, head.textContent || "")));
  // What scrolls into view, and the header of a table, stay below the bar.
  new ResizeObserver(() => document.documentElement.style.setProperty("--bar", bar.offsetHeight + "px")).observe(bar);
  return bar;
}

/** Describes the limits of bricks in sentences that follow from the numbers, without guesses. */
function limits() {
  /** @type {(Leaf | Leaf[])[]} */
  const sentences = [];
  for (const limit of ["memory", "compute"]) {
    const pct = sum(bricks.filter((brick) => brick.bottleneck === limit), (brick) => brick.pct);
    if (pct > 0) {
      sentences.push("Bricks marked as limited by " + limit + " take " + percent(pct) + "\u00a0% of brick time. ");
    }
  }
  const bound = bricks.filter(isLaunchBound);
  if (bound.length > 0) {
    sentences.push(
      "Launch-bound, the host takes longer to launch them than the device to do them: ",
      listed(bound.map((brick) => brick.name)),
      ".",
    );
  }
  if (netBricks.length > 0) {
    sentences.push(" Shares and rates are by net times, without what marks add; other times are as recorded.");
  }
  const short = bricks.filter((brick) => brick.device?.short === true);
  if (short.length > 0) {
    sentences.push(
      " Shorter than twice what their marks add, so that their net times are uncertain: ",
      listed(short.map((brick) => brick.name)),
      ".",
    );
  }
  return sentences.length === 0 ? "" : html("p", { class: "limits" }, sentences);
}

/** @param {Brick} brick */
function launchUs(brick) {
  return brick.device && brick.device.launches > 0 ? brick.device.launch_ns / 1e3 / brick.device.launches : 0;
}

/** @param {Brick} brick */
function isLaunchBound(brick) {
  return brick.device !== undefined && brick.device.time_source === "device" && launchUs(brick) > brick.avg_us;
}

/** Draws one bar of all categories. The table below contains the same numbers. */
function whole() {
  const shown = recordedCategories().filter((category) => category.total_ns > 0);
  if (shown.length === 0) {
    return "";
  }
  const text = shown.map((category) => category.name + " " + percent(category.pct) + "\u00a0%").join(", ");
  return stacked(
    "Brick time by category: " + text,
    shown.map(({ name, pct }) => ({ label: name + " " + percent(pct) + NARROW + "%", colour: colour(name), pct })),
  );
}

/** @param {Brick} brick */
function withoutStart(brick) {
  return brick.device?.without_start ?? 0;
}

/** Returns the reasons to doubt the numbers. */
function faults() {
  /** @type {Content[]} */
  const found = [];
  const unresolved = sum(bricks, (brick) => (brick.device ? brick.device.unresolved : 0));
  const remarks = run.disturbances || [];
  const noStep = remarks.filter((remark) => remark.startsWith("no step was reached"));
  noStep.forEach((remark) => found.push([html("bdi", {}, visible(remark)), "."]));
  const disturbed = remarks.filter((remark) => !noStep.includes(remark));
  if (disturbed.length > 0) {
    found.push(["Disturbed: ", html("bdi", {}, visible(disturbed.join(", "))), ". What the machine did for others is in the times."]);
  }
  if (bricks.length === 0) {
    found.push("No bricks were recorded: " + (profile.pending > 0 ? "everything that was measured is pending." : "none was stopped while the profiler was on."));
  }
  if (account !== undefined) {
    found.push(...account.doubts.map((doubt) => [html("bdi", {}, visible(doubt)), "."]));
  }
  if (profile.literal_overlaps > 0) {
    found.push(
      "Overlapping: " + count(profile.literal_overlaps) + " deferred measurements were resolved together with others, and "
        + "each lasts until then: totals, averages and shares are too large. "
        + "Attribution.SEQUENTIAL divides the time among them.",
    );
  }
  if (profile.pending > 0) {
    found.push(
      "Pending: " + plural(profile.pending, "measurement", "measurements") + " had begun and had no known end when the snapshot was taken. "
        + "Each of several merged snapshots counts it.",
    );
  }
  const above = roofline === undefined ? [] : roofline.bricks.filter((brick) => brick.above_roof);
  if (above.length > 0) {
    found.push([
      "Above the roof, which is impossible: ",
      ...listed(above.map((brick) => brick.name)),
      ". Their work, time, working set, threads or the machine\u2019s figures are wrong.",
    ]);
  }
  for (const part of roofline === undefined ? [] : [roofline, ...(roofline.phases ?? [])]) {
    const where = "phase" in part ? " in " + part.phase + " steps" : "";
    part.remarks.forEach((remark) => found.push(["Roof" + where + ": ", html("bdi", {}, visible(remark)), "."]));
  }
  if (profile.now?.stalled_ns !== undefined) {
    found.push(visible(profile.now.text[0]));
  }
  if (profile.slow_steps !== undefined) {
    found.push("Chosen steps only: the timeline behind this page holds the slowest steps and a median one. All sums and shares are of these steps, not of the run.");
  }
  if (profile.steps !== undefined && profile.steps.abandoned > 0) {
    found.push("Abandoned: " + plural(profile.steps.abandoned, "step", "steps") + " began and did not end. They are in no figure of steps.");
  }
  const unheld = sum(profile.tiles, (tile) => tile.unresolved ?? 0);
  if (unheld > 0) {
    found.push("Unresolved tiles: a timer could not hold the time of " + plural(unheld, "tile", "tiles") + ". They are in no count and no total.");
  }
  if (profile.dropped_pending > 0) {
    found.push("Dropped: " + plural(profile.dropped_pending, "deferred measurement", "deferred measurements") + " found the queue full. Counts and totals lack them.");
  }
  if (bricks.some(isEstimated)) {
    found.push(
      "Estimated: one brick in several has marks, and ~ precedes each time that follows from them. \u201c?\u201d is the interval of too few marks, and \u201cfew\u201d follows that of "
        + "hardly enough. Shortest and longest are those of marked samples; with n of them, calls rarer than 1 "
        + "in n/3 may be unseen, and are in no interval.",
    );
  }
  if (unresolved > 0) {
    const usesDevice = (profile.streams || []).length > 0 || bricks.some((brick) => brick.device && brick.device.device_samples > 0);
    found.push("Unresolved: " + (usesDevice ? "the device did not report" : "a timer could not hold") + " the time of " + plural(unresolved, "sample", "samples") + ". They are in no count and no total.");
    const startless = bricks.filter((brick) => withoutStart(brick) > 0);
    if (startless.length > 0) {
      const starts = sum(startless, withoutStart);
      found.push("Without a known start: " + plural(starts, "deferred measurement", "deferred measurements") + " of these (" + startless.map((brick) => brick.name).join(", ") + "). Read the start by elapsedNs() of the same stream, and give the stream enough marks.");
    }
  }
  for (const stream of profile.streams || []) {
    if (stream.failure) {
      found.push(["Stream ", named(stream.stream), ": ", html("bdi", {}, visible(stream.failure)), "."]);
    }
  }
  const dominated = bricks.filter((brick) => brick.count >= 8 && brick.max_ns > brick.total_ns / 4);
  if (dominated.length > 0) {
    found.push([
      "One sample: more than a quarter of the time of ",
      ...listed(dominated.map((brick) => brick.name)),
      " was one sample. First samples load classes; leave them out by a warm-up, or compare medians.",
    ]);
  }
  const impossible = kernelRoof === undefined ? [] : kernelRoof.kernels.filter((kernel) => kernel.above_roof > 0);
  if (impossible.length > 0) {
    found.push([
      "Kernels above the roof, which is impossible: ",
      ...listed(impossible.map((kernel) => kernel.name)),
      ". Their rate, their intensity or the device\u2019s figures are wrong.",
    ]);
  }
  if (wallNs > 0 && shareNs > wallNs && profile.literal_overlaps === 0) {
    found.push("Brick time exceeds wall time: bricks ran on several threads at once, or inside one another.");
  }
  return found;
}


/**
 * Returns a column with a time of each brick; the cells of bricks without samples are empty.
 *
 * @param {string} label
 * @param {(brick: Brick) => number | undefined} ns
 * @returns {BrickColumn}
 */
function timeColumn(label, ns) {
  return valueColumn(label, (brick) => (brick.count > 0 ? ns(brick) : undefined), time);
}

/**
 * Returns a column with a value of each brick; the cell is empty if the value is unknown.
 *
 * @param {string} label
 * @param {(brick: Brick) => number | undefined} value
 * @param {(value: number) => Content} shown
 * @returns {BrickColumn}
 */
function valueColumn(label, value, shown) {
  return {
    label,
    isFurther: true,
    isKnown: (brick) => value(brick) !== undefined,
    value: (brick) => value(brick) ?? -1,
    cell: (brick) => {
      const known = value(brick);
      return known === undefined ? NONE : shown(known);
    },
  };
}

/**
 * Returns the rate of the stated work of a brick, 10^9 of its operations or bytes per second; undefined if the work of
 * some samples is unknown, or its sum is beyond 64 bits.
 *
 * @param {Brick} brick
 * @param {"flops" | "bytes"} key
 */
function workRate(brick, key) {
  const { work } = brick;
  const ns = netOrTotalNs(brick);
  return work === undefined || work.work_samples !== undefined || work[key] === 0 || work[key] >= 2 ** 63 || ns === 0 ? undefined : work[key] / ns;
}

/**
 * Returns the time from which shares and rates are computed: of a brick that a device timed without what marks add, if
 * that is known.
 *
 * @param {Brick} brick
 */
function netOrTotalNs(brick) {
  return netNs(brick) ?? brick.total_ns;
}

/** @param {Brick} brick */
function netNs(brick) {
  return brick.device?.marks_ns === undefined ? undefined : brick.net_ns;
}

/**
 * Returns the time of a brick, or of its samples in a phase, for shares in the whole: net if the net time of the whole
 * brick is known.
 *
 * @param {Brick} part
 */
function partOfBrickNs(part) {
  const isNet = netBricks.some(({ name, category }) => name === part.name && category === part.category);
  return isNet ? netOrTotalNs(part) : part.total_ns;
}

/** The columns whose values are estimates if the total of the brick is one. */
const ESTIMATED = new Set(["total", "net total", "avg", "p50", "p99", "elements/s", "GFLOP/s", "work GB/s", "GB/s"]);

/** @param {Brick} brick */
function markedSamples(brick) {
  return brick.device === undefined ? 0 : brick.device.device_samples;
}

/** The share of the rows from which a column without a value is left out. */
const MOSTLY = 0.8;

/**
 * Returns the columns of a table of bricks, and those that are left out since most of their cells would be empty.
 *
 * @param {Brick[]} bricks largest first, at least one
 * @param {string} base what the shares are of
 * @returns {{ columns: BrickColumn[], omitted: BrickColumn[] }}
 */
function brickColumns(bricks, base) {
  const partNs = sum(bricks, netOrTotalNs);
  const largest = Math.max(...bricks.map(netOrTotalNs));
  const brickNs = sum(bricks, (brick) => brick.total_ns);
  const samples = sum(bricks, (brick) => brick.count);
  const spreads = bricks.some((brick) => brick.latency !== undefined);
  const timed = bricks.some((brick) => brick.device !== undefined && brick.device.device_samples > 0);
  const areEstimated = bricks.some(isEstimated);
  /** @param {Brick} brick */
  const unresolved = (brick) => (brick.device ? brick.device.unresolved : 0);
  /** @type {BrickColumn[]} */
  const all = present([
    { label: "brick", text: true, value: (brick) => brick.name, cell: (brick) => named(brick.name, labels.get(brick.name)), total: "all bricks", isFact: true },
    { label: "category", text: true, value: (brick) => brick.category, cell: (brick) => categoryCell(brick.category), total: "", isFurther: true, isFact: true },
    { label: "count", value: (brick) => brick.count, cell: (brick) => count(brick.count), total: count(samples), isFurther: true, isFact: true },
    { ...timeColumn("total", (brick) => brick.total_ns), total: marked(areEstimated, time(brickNs)), isFurther: false, isKept: true, isFact: true },
    areEstimated && { label: "\u00b1 %", hint: "Half of its 95 % interval", value: errorOf, cell: errorCell, isFact: true },
    bricks.some((brick) => netNs(brick) !== undefined) && {
      ...timeColumn("net total", netNs),
      hint: "Without what the marks of the device add",
      total: marked(areEstimated, time(partNs)),
      isFact: true,
    },
    {
      label: "% of " + base,
      value: netOrTotalNs,
      cell: (brick) => marked(areEstimated, share(netOrTotalNs(brick), partNs, largest, brick.category)),
      total: percent(partNs === 0 ? 0 : 100),
      isFact: true,
    },
    { ...timeColumn("avg", (brick) => ratio(brick.total_ns, brick.count)), isFurther: spreads, isKept: true, isFact: true },
    { ...timeColumn("min", (brick) => (isMinKnown(brick) ? brick.min_ns : undefined)), isFact: true },
    timeColumn("p50", (brick) => brick.latency && 1e3 * brick.latency.p50_us),
    { ...timeColumn("p99", (brick) => brick.latency && 1e3 * brick.latency.p99_us), isFurther: false },
    spreads && areEstimated && intervalColumn("p50 95 %", ({ p50_at_least_us: least, p50_at_most_us: most }) => [least, most]),
    spreads && areEstimated && intervalColumn("p99 95 %", ({ p99_at_least_us: least, p99_at_most_us: most }) => [least, most]),
    { ...timeColumn("max", (brick) => (isMaxKnown(brick) ? brick.max_ns : undefined)), isFact: true },
    {
      label: spreads ? "min to max, p50 and p99" : "min to max, avg",
      text: true,
      hint: "Each on a logarithmic scale of its own",
      cell: spread,
      isKnown: (brick) => isMinKnown(brick) && isMaxKnown(brick),
      isFurther: true,
      isFact: true,
    },
    valueColumn("elements/s", (brick) => (brick.total_elements > 0 ? brick.throughput : undefined), rate),
    { ...valueColumn("GFLOP/s", (brick) => workRate(brick, "flops"), number), isKept: bricks.some((brick) => workRate(brick, "flops") !== undefined) },
    { ...valueColumn("work GB/s", (brick) => workRate(brick, "bytes"), number), isKept: bricks.some((brick) => workRate(brick, "bytes") !== undefined) },
    valueColumn("GB/s", (brick) => (brick.total_bytes > 0 ? brick.throughput_gbps : undefined), number),
    valueColumn("cycles/element", (brick) => (brick.total_cycles > 0 ? ratio(brick.total_cycles, brick.total_elements) : undefined), number),
    timed && { label: "time of", text: true, value: timeSource, cell: timeSource, isFurther: true },
    areEstimated && { label: "marked", hint: "Others are estimated from these", value: markedSamples, cell: (brick) => count(markedSamples(brick)), isFurther: true },
    timeColumn("host's launch", (brick) => (launchUs(brick) > 0 ? 1e3 * launchUs(brick) : undefined)),
    bricks.some((brick) => unresolved(brick) > 0) && { label: "unresolved", value: unresolved, cell: (brick) => count(unresolved(brick)), isFurther: true, isFact: true },
    { label: "limit", text: true, value: limitOf, cell: limitOf, isKnown: (brick) => brick.bottleneck !== "unknown", isFurther: true, isFact: true },
  ]);
  /** @param {BrickColumn} column */
  const markedIfEstimated = (column) => (ESTIMATED.has(column.label) ? { ...column, cell: (/** @type {Brick} */ brick) => marked(isEstimated(brick), column.cell(brick)) } : column);
  /** @param {BrickColumn} column */
  const isShown = ({ isKept, isKnown }) => isKept || isKnown === undefined || bricks.filter((brick) => !isKnown(brick)).length < MOSTLY * bricks.length;
  const shown = all.map(markedIfEstimated);
  return { columns: shown.filter(isShown), omitted: shown.filter((column) => !isShown(column)) };
}

/**
 * Returns a column with the 95 % interval of a percentile.
 *
 * @param {string} label
 * @param {(latency: Latency) => (number | undefined)[]} ends
 * @returns {BrickColumn}
 */
function intervalColumn(label, ends) {
  /** @param {Brick} brick */
  const cell = (brick) => {
    const [least, most] = brick.latency === undefined ? [] : ends(brick.latency).map((us) => us && duration(1e3 * us));
    return isEstimated(brick) ? (least || "?") + " to " + (most || "?") : "exact";
  };
  return { label, text: true, value: cell, cell, isFurther: true };
}

/** @param {Brick} brick */
function timeSource(brick) {
  return brick.count === 0 ? NONE : brick.device ? brick.device.time_source : "host";
}

/** @param {Brick} brick */
function limitOf(brick) {
  return brick.bottleneck === "unknown" ? NONE : brick.bottleneck;
}

function brickSection() {
  if (bricks.length === 0) {
    return "";
  }
  /** @type {BrickPart[]} */
  const parts = [
    { phase: "", label: "all steps", base: "brick time", bricks },
    ...(profile.phases ?? []).map((each) => ({ phase: each.phase, label: each.phase + " steps", base: "phase time", bricks: each.bricks })),
  ];
  const made = parts.map(bricksOf);
  const filters = html("span", { class: "filter" }, made[0].filter);
  const tables = html("div", {}, made[0].table);
  const choice = phaseSwitch(parts, (part) => {
    showState({ ...state, phase: parts[part].phase }, false);
  });
  const element = section("Bricks", filters, parts.length === 1 ? "" : choice.element, tables);

  showState = (wanted, isMoving) => {
    const part = Math.max(0, parts.findIndex(({ phase }) => phase === wanted.phase));
    const { filter, table, lines, search, showFurther } = made[part];
    state = { brick: "", phase: parts[part].phase, filter: wanted.filter };
    choice.select(part);
    filters.replaceChildren(filter);
    tables.replaceChildren(table);
    search(wanted.filter);
    const line = lines.find(({ row }) => row.name === wanted.brick);
    if (line !== undefined) {
      if (line.tr.hidden) {
        state.filter = "";
        search("");
      }
      if (line.tr.classList.contains("further")) {
        showFurther();
      }
      line.open();
      state.brick = wanted.brick;
    }
    keepState({});
    if (isMoving && addressOf(state) !== "") {
      const target = line === undefined ? element : line.tr;
      target.scrollIntoView();
      const button = target.querySelector("button.open");
      if (line !== undefined && button instanceof HTMLElement) {
        button.focus({ preventScroll: true });
      }
    }
  };
  return element;
}

/** @param {BrickPart} part */
function bricksOf(part) {
  const { columns, omitted } = brickColumns(part.bricks, part.base);
  const further = [...columns, ...omitted].filter(({ isFact }) => !isFact);
  /**
   * @param {Brick} brick
   * @param {boolean} isOpen
   */
  const toggled = ({ name }, isOpen) => {
    if (isOpen || state.brick === name) {
      keepState({ brick: isOpen ? name : "" });
    }
  };
  const { element, lines } = table("Bricks", columns, part.bricks, { sorted: 3, detail: (brick) => brickDetail(brick, further), toggled, wide: true });
  /** @param {Brick} brick */
  const words = (brick) => visible(brick.name) + "\n" + brick.category;
  const found = filter(lines, "Filter bricks by name or category", words, "brick", "bricks");
  const field = /** @type {HTMLInputElement} */ (found.querySelector("input"));
  field.addEventListener("input", () => keepState({ filter: field.value }));
  /** @param {string} text */
  const search = (text) => {
    if (field.value !== text) {
      field.value = text;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };
  let showFurther = () => {};
  if (part.bricks.length > MANY_BRICKS) {
    const button = furtherBricks(lines, element, found);
    showFurther = () => button.click();
    element.append(button);
  }
  return { table: element, filter: found, lines, search, showFurther };
}

/** Tables with more bricks show the first ones only; printed, they show all. */
const MANY_BRICKS = 40;
const FIRST_BRICKS = 30;

/**
 * Hides all bricks but the largest ones, in any order of the rows, and returns the button that shows them. A search shows
 * them, too.
 *
 * @param {{ row: Brick, tr: HTMLElement }[]} lines
 * @param {HTMLElement} table
 * @param {HTMLElement} search
 */
function furtherBricks(lines, table, search) {
  const further = [...lines].sort((a, b) => b.row.total_ns - a.row.total_ns).slice(FIRST_BRICKS);
  further.forEach(({ tr }) => tr.classList.add("further"));
  const ns = sum(further, ({ row }) => netOrTotalNs(row));
  const share = percent(100 * ratio(ns, sum(lines, ({ row }) => netOrTotalNs(row))));
  const show = () => {
    table.classList.remove("short");
    button.remove();
  };
  const button = html(
    "button",
    { type: "button", class: "action", onclick: show },
    count(further.length) + " more, " + share + "\u00a0%",
  );
  table.classList.add("short");
  search.addEventListener("input", show, { once: true });
  return button;
}

/** Moves to the filter of bricks by the key /. */
function searchByKey() {
  document.addEventListener("keydown", (event) => {
    const input = document.querySelector("#section-bricks input");
    const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
    if (event.key === "/" && !isTyping && input instanceof HTMLInputElement) {
      event.preventDefault();
      input.focus();
    }
  });
}

/**
 * Chooses the part whose bricks are shown, and states how much time each part has.
 *
 * @param {BrickPart[]} parts all bricks, then those of each phase
 * @param {(part: number) => void} selected
 */
function phaseSwitch(parts, selected) {
  /** @param {{ bricks: Brick[] }} part */
  const partNs = (part) => sum(part.bricks, partOfBrickNs);
  /** @param {number} ns */
  const shareOf = (ns) => percent(100 * ratio(ns, shareNs)) + " %";
  const withoutNs = shareNs - sum(parts.slice(1), partNs);
  const options = parts.map((part, i) => html("option", { value: String(i) }, part.label + ": " + shareOf(partNs(part)) + " of brick time"));
  /** @type {HTMLSelectElement} */
  const choice = html("select", { "aria-label": "Steps of which the bricks are shown", onchange: () => selected(Number(choice.value)) }, options);
  const element = html(
    "p",
    {},
    html("label", {}, "Bricks in ", choice),
    withoutNs > 0 ? html("span", { class: "quiet" }, " " + shareOf(withoutNs) + " of brick time has no phase: no step, or steps of several phases, were under way.") : "",
  );
  return {
    element,
    select: (/** @type {number} */ part) => {
      choice.value = String(part);
    },
  };
}

/** @type {Record<BrickFact["format"], (value: unknown) => string>} */
const FACT_FORMATS = {
  text: (value) => String(value),
  count: (value) => count(Number(value)),
  ns: (value) => count(Number(value)) + " ns",
  us: (value) => duration(1e3 * Number(value)),
  duration: (value) => duration(Number(value)),
  number: (value) => number(Number(value)),
};

/**
 * Returns a fact about a brick; undefined if it is unknown.
 *
 * @param {Brick} brick
 * @param {BrickFact} fact
 * @returns {Fact | undefined}
 */
function factOf(brick, fact) {
  const holder = /** @type {unknown} */ (fact.part === undefined ? brick : brick[fact.part]);
  const record = /** @type {Record<string, unknown> | undefined} */ (holder);
  if (record === undefined || (fact.when !== undefined && !(Number(record[fact.when]) > 0))) {
    return undefined;
  }
  const value = record[fact.key];
  const shown = fact.per === undefined ? value : ratio(Number(value), Number(record[fact.per]));
  return [fact.title, FACT_FORMATS[fact.format](shown)];
}

/**
 * Returns all facts about one brick: those of the profile, and the values of columns that they lack. A narrow window
 * has no place for some of these columns, and others are left out.
 *
 * @param {Brick} brick
 * @param {BrickColumn[]} columns
 */
function brickDetail(brick, columns) {
  const facts = present(brickFacts.map((fact) => factOf(brick, fact)));
  const further = columns.filter(({ isKnown }) => isKnown === undefined || isKnown(brick));
  return [
    labels.get(brick.name) === visible(brick.name) ? "" : fullName(brick.name),
    brick.latency && brick.count > 0 ? largeHistogram(brick, brick.latency) : "",
    html(
      "dl",
      {},
      facts.map(([what, value]) => html("div", {}, html("dt", {}, what), html("dd", {}, value))),
      further.map((column) => html("div", {}, html("dt", {}, /^p\d/.test(column.label) ? column.label : capital(column.label)), html("dd", {}, column.cell(brick)))),
    ),
    splitByPhase(brick),
    splitByLayer(brick),
  ];
}

/**
 * Shows how the time of a brick is divided among the phases of steps; nothing if no sample belongs to a step.
 *
 * @param {Brick} opened
 */
function splitByPhase(opened) {
  /** @param {Brick} each */
  const isSame = ({ name, category }) => name === opened.name && category === opened.category;
  const whole = bricks.find(isSame) ?? opened;
  const parts = (profile.phases ?? []).flatMap((each) => each.bricks.filter(isSame).map((brick) => ({ phase: each.phase, brick })));
  if (parts.length === 0) {
    return "";
  }
  const restNs = whole.total_ns - sum(parts, ({ brick }) => brick.total_ns);
  /**
   * @param {string} label
   * @param {"p50_us" | "p99_us"} key
   * @returns {Column<{ phase: string, brick: Brick }> | false}
   */
  const at = (label, key) => whole.latency !== undefined && { label, cell: ({ brick }) => (brick.latency ? time(1e3 * brick.latency[key]) : NONE) };
  /** @type {Column<{ phase: string, brick: Brick }>[]} */
  const columns = present([
    { label: "phase", text: true, cell: ({ phase }) => phase },
    { label: "count", cell: ({ brick }) => count(brick.count) },
    { label: "total", cell: ({ brick }) => time(brick.total_ns) },
    { label: "% of the brick", cell: ({ brick }) => share(partOfBrickNs(brick), netOrTotalNs(whole), netOrTotalNs(whole), brick.category) },
    { label: "avg", cell: ({ brick }) => time(ratio(brick.total_ns, brick.count)) },
    at("p50", "p50_us"),
    at("p99", "p99_us"),
  ]);
  return html(
    "div",
    { class: "split" },
    html("h3", {}, "By phase", html("span", { class: "quiet" }, restNs > 0 ? ", and " + duration(restNs) + " without a phase" : "")),
    table("Phases of " + shortened(whole.name), columns, parts).element,
  );
}

/**
 * Draws the time of a brick in each layer; nothing if layers are unknown.
 *
 * @param {Brick} brick
 */
function splitByLayer({ name, category }) {
  const row = layerTimes === undefined ? undefined : layerTimes.rows.find((each) => each.name === name);
  if (layerTimes === undefined || row === undefined || row.times.length < 2) {
    return "";
  }
  const { layers, heads } = layerTimes;
  const times = present(row.times);
  const longestNs = Math.max(...times);
  const slowest = layers[row.times.indexOf(longestNs)];
  const said = heads + ": median " + duration(median(times)) + ", most in layer " + slowest + ", " + duration(longestNs);
  const wide = Math.max(1, Math.min(14, Math.floor(Math.min(760, Math.max(240, innerWidth - 96)) / layers.length)));
  const [width, height] = [wide * layers.length, 48];
  const boxes = row.times.map((ns, i) => {
    const high = ns === null ? 0 : Math.max(1, (height * ns) / Math.max(1, longestNs));
    return high === 0 ? "" : `M${i * wide} ${(height - high).toFixed(1)}h${wide > 2 ? wide - 1 : wide}v${high.toFixed(1)}h${wide > 2 ? 1 - wide : -wide}z`;
  });
  const middle = (height - (height * median(times)) / Math.max(1, longestNs)).toFixed(1);
  const picture = svg(
    "svg",
    { width: Math.max(80, width), height: height + 16, viewBox: `0 0 ${Math.max(80, width)} ${height + 16}`, role: "img", "aria-label": said },
    svg("path", { class: "shape", "--colour": colour(category), d: boxes.join("") }),
    svg("line", { class: "median", x1: 0, x2: width, y1: middle, y2: middle }),
    svg("text", { x: 0, y: height + 13 }, "layer " + layers[0] + " to " + layers[layers.length - 1]),
  );
  return html("div", { class: "split" }, html("h3", {}, "By layer", html("span", { class: "quiet" }, ", " + said[0].toLowerCase() + said.slice(1))), picture);
}

/**
 * Returns a whole name, with a button that copies it. Where the browser does not allow that, the button selects it.
 *
 * @param {string} name
 */
function fullName(name) {
  const whole = html("bdi", {}, visible(name));
  const copy = html("button", { type: "button", class: "action", onclick: press }, "Copy name");

  function press() {
    const copied = () => {
      copy.textContent = "Copied";
    };
    const select = () => {
      const selection = getSelection();
      if (selection !== null) {
        selection.selectAllChildren(whole);
      }
      copy.textContent = "Selected";
    };
    if (navigator.clipboard === undefined) {
      select();
    } else {
      navigator.clipboard.writeText(name).then(copied, select);
    }
  }

  return html("p", { class: "full-name" }, whole, " ", copy);
}

function categorySection() {
  const shown = recordedCategories();
  if (shown.length === 0) {
    return "";
  }
  /** @param {Category} category */
  const ofCategory = ({ name }) => sum(bricks.filter((brick) => brick.category === name), netOrTotalNs);
  const largest = Math.max(...shown.map(ofCategory));
  /** @type {Column<Category>[]} */
  const columns = present([
    {
      label: "category",
      text: true,
      cell: ({ name }) => html("a", { class: "to-row", href: addressOf({ filter: name }) }, categoryCell(name)),
      total: "all categories",
    },
    { label: "count", cell: (category) => count(category.count), total: count(samples) },
    { label: "total", cell: (category) => marked(category.estimated === true, time(category.total_ns)), total: marked(shown.some(({ estimated }) => estimated === true), time(brickNs)) },
    { label: "% of brick time", cell: (category) => share(ofCategory(category), shareNs, largest, category.name), total: percent(shareNs === 0 ? 0 : 100) },
    wallNs > 0 && {
      label: "% of wall time",
      cell: (category) => percent(100 * ratio(ofCategory(category), wallNs)),
      total: percent(100 * ratio(shareNs, wallNs)),
    },
  ]);
  return section("Categories", "", table("Categories", columns, shown).element);
}

function tileSection() {
  const shown = profile.tiles.filter((tile) => tile.count > 0);
  if (shown.length === 0) {
    return "";
  }
  /** @type {Column<Tile>[]} */
  const columns = [
    { label: "level", text: true, cell: (tile) => tile.level },
    { label: "tiles", cell: (tile) => count(tile.count) },
    { label: "total", cell: (tile) => time(tile.total_ns) },
    { label: "avg", cell: (tile) => time(ratio(tile.total_ns, tile.count)) },
    { label: "min", cell: (tile) => (tile.min_at_least_ns === undefined ? time(tile.min_ns) : NONE) },
    { label: "max", cell: (tile) => (tile.max_at_most_ns === undefined ? time(tile.max_ns) : NONE) },
    { label: "GFLOP/s of tile time", cell: (tile) => number(tile.gflops) },
    { label: "FLOP/B at 4 B an element", cell: (tile) => number(tile.arithmetic_intensity) },
    { label: "slowest tile", text: true, cell: (tile) => (tile.slowest_row < 0 ? NONE : `row ${tile.slowest_row}, col ${tile.slowest_col}`) },
  ];
  const off = profile.tile_profiling_enabled ? "" : note("Their switch was off when the profile was taken");
  return section("Tiles", off, table("Tiles", columns, shown).element, shown.flatMap(({ level }) => tileMap(level)));
}

/**
 * @param {number} first
 * @param {number} last
 */
function span(first, last) {
  return first === last ? String(first) : first + "\u2013" + last;
}

/**
 * Draws the tiles of a level by row and column, as multiples of the median over all parts of their grid.
 *
 * @param {Tile["level"]} level
 */
function tileMap(level) {
  const places = (held("tile-places") || []).filter((place) => place.level === level);
  if (places.length < 2) {
    return [];
  }
  /** @param {(place: TilePlace) => string} label */
  const unique = (label) => [...new Set(places.map(label))];
  /** @param {TilePlace} place */
  const rowOf = (place) => "row " + span(place.first_row, place.last_row);
  /** @param {TilePlace} place */
  const colOf = (place) => span(place.first_col, place.last_col);
  const columns = unique(colOf).sort((a, b) => parseInt(a, 10) - parseInt(b, 10));
  /** @param {TilePlace} place */
  const average = (place) => ratio(place.total_ns, place.count);
  const usual = median(places.map(average));
  /**
   * @param {{ name: string }} row
   * @param {string} column
   * @param {number} ns
   */
  const describe = (row, column, ns) =>
    row.name + ", col " + column + ": " + duration(ns) + " on average, " + number(ratio(ns, usual)) + " times the median";
  const slowest = places.reduce((a, b) => (average(b) > average(a) ? b : a));
  const said = "Slowest: " + describe({ name: rowOf(slowest) }, colOf(slowest), average(slowest)) + ".";
  const heading = html("h3", {}, capital(level) + " tiles by row and column", html("span", { class: "quiet" }, ", median " + duration(usual)));
  if (columns.length === 1) {
    return [heading, html("p", {}, said), tileBars(capital(level) + " tiles", rowOf, average, places, usual)];
  }
  const byPlace = new Map(places.map((place) => [rowOf(place) + "\n" + colOf(place), average(place)]));
  const rows = unique(rowOf).map((name) => ({ name, median: usual, times: columns.map((col) => byPlace.get(name + "\n" + col) ?? null) }));
  /** @param {HeatRow} row */
  const rowMean = (row) => {
    const there = present(row.times);
    return duration(ratio(sum(there, (ns) => ns), there.length));
  };
  return [
    heading,
    html("p", {}, said),
    heatMap({ name: capital(level) + " tiles", columns, axis: "col", end: ["row\u2019s mean", rowMean], rows, said, describe }),
  ];
}

/**
 * Draws the tiles of a grid with one column as bars.
 *
 * @param {string} name
 * @param {(place: TilePlace) => string} rowOf
 * @param {(place: TilePlace) => number} average
 * @param {TilePlace[]} places
 * @param {number} usual the median
 */
function tileBars(name, rowOf, average, places, usual) {
  const longestNs = Math.max(...places.map(average));
  /** @type {Column<TilePlace>[]} */
  const columns = [
    { label: "tiles", text: true, cell: rowOf },
    { label: "avg", cell: (place) => time(average(place)) },
    {
      label: "times the median",
      cell: (place) =>
        html(
          "span",
          { class: "share", "--colour": colour("Other") },
          html("i", { "aria-hidden": "true", "--part": 100 * ratio(average(place), longestNs) + "%" }),
          html("span", {}, number(ratio(average(place), usual))),
        ),
    },
  ];
  return table(name, columns, places).element;
}

/**
 * Returns the time of the passes without that of the bricks, both without what marks add.
 *
 * @param {Stream} stream
 */
function betweenCell({ estimated, net_pass_ns: passNs, net_bricks_ns: bricksNs, net_error_ns: errorNs, net_standard_error_ns: standardErrorNs }) {
  if (passNs === undefined) {
    return NONE;
  }
  return [marked(estimated === true, time(Math.max(0, passNs - (bricksNs ?? 0)))), " \u00b1 ", time((errorNs ?? 0) + 2 * (standardErrorNs ?? 0))].flat();
}

/** @param {Stream} stream */
function marksCell({ brick_marks_ns: ns, mark_error_ns: errorNs, no_net: reason }) {
  return ns === undefined ? (reason ? "unknown: " + visible(reason) : NONE) : [time(ns), " \u00b1 ", time(errorNs ?? 0)];
}

function deviceSection() {
  const streams = profile.streams || [];
  if (streams.length === 0) {
    return "";
  }
  const areSampled = streams.some(({ estimated }) => estimated === true);
  /** @type {Column<Stream>[]} */
  const columns = present([
    { label: "stream", text: true, cell: (stream) => named(stream.stream) },
    { label: "device", text: true, cell: (stream) => [named(stream.device), " #" + stream.device_index] },
    { label: "bricks", cell: (stream) => count(stream.samples) },
    { label: "busy", cell: (stream) => marked(stream.estimated === true, time(stream.busy_ns)) },
    areSampled && { label: "passes", cell: (stream) => (stream.pass_ns === undefined ? NONE : time(stream.pass_ns)) },
    { label: "idle in passes", cell: (stream) => (stream.estimated ? NONE : time(stream.idle_ns)) },
    { label: "idle % of both", cell: (stream) => stream.estimated ? NONE : share(stream.idle_ns, stream.busy_ns + stream.idle_ns, stream.busy_ns + stream.idle_ns, "Other") },
    { label: "of it, marks at most", cell: (stream) => stream.estimated ? NONE : time(Math.min(stream.idle_ns, stream.gaps * stream.shortest_gap_ns)) },
    { label: "marks of a brick add", cell: marksCell },
    { label: "net between bricks", cell: betweenCell },
    { label: "waits", cell: (stream) => count(stream.waits) },
    { label: "clock error", cell: (stream) => time(stream.clock_error_ns) },
  ]);
  return section("Devices", "", table("Devices", columns, streams).element);
}

/** @type {Record<string, [label: string, unit: string]>} */
const MACHINE = {
  steal_pct: ["Steal by other machines", "\u00a0%"],
  other_processes_pct: ["Other processes", "\u00a0% of the processors\u2019 time"],
  load_1min: ["Load over the last minute", ""],
  celsius: ["Warmest part at the end", "\u00a0\u00b0C"],
  mhz: ["Mean frequency at the end", "\u00a0MHz"],
};

/**
 * Returns the facts about the machine and about its Java virtual machines, all of them, since they started.
 *
 * @returns {Fact[]}
 */
function meanwhileFacts() {
  /** @type {Fact[]} */
  const facts = Object.entries(run.machine || {}).map(([key, value]) => {
    const [label, unit] = MACHINE[key] || [key, ""];
    return [label, number(value) + unit];
  });
  const machines = run.virtual_machines || [];
  const upNs = sum(machines, (machine) => machine.up_ns);
  /** @param {number} ns */
  const since = (ns) => duration(ns) + ", " + percent(100 * ratio(ns, upNs)) + "\u00a0% of the " + duration(upNs) + " since the start";
  if (upNs > 0) {
    facts.push(["Garbage collection", since(sum(machines, (machine) => machine.gc_ns))]);
    facts.push(["Compilation", since(sum(machines, (machine) => machine.jit_ns)) + ", by all compiler threads"]);
  }
  return facts;
}

function meanwhileSection() {
  const facts = meanwhileFacts();
  const { clock_anchors: anchors, clock_error_ns: errorNs, disturbances } =
    profile.virtual_machine || { clock_anchors: 0, clock_error_ns: 0, disturbances: [] };
  if (anchors > 0) {
    facts.push(["Clock of the recording", "bricks placed within " + duration(errorNs) + " by " + plural(anchors, "anchor", "anchors")]);
  }
  if (facts.length === 0 && disturbances.length === 0) {
    return "";
  }
  /**
   * @param {string} label
   * @param {"share" | "share_of_p99"} key
   * @returns {Column<Disturbance>}
   */
  const part = (label, key) => ({ label, value: (each) => each[key], cell: (each) => percent(100 * each[key]) });
  /** @type {Column<Disturbance>[]} */
  const columns = [
    { label: "brick", text: true, value: (each) => each.brick, cell: (each) => brickLink(each.brick) },
    { label: "meanwhile", text: true, value: (each) => each.cause, cell: (each) => each.cause },
    { label: "time", value: (each) => each.total_ns, cell: (each) => time(each.total_ns) },
    part("% of its time", "share"),
    part("% of its p99", "share_of_p99"),
  ];
  return section(
    "Meanwhile",
    "",
    facts.length === 0 ? "" : factList(facts),
    disturbances.length === 0
      ? ""
      : [html("p", { class: "above" }, "While bricks and steps ran:"), table("Meanwhile", columns, disturbances, { sorted: 2 }).element],
  );
}

/** @param {Fact[]} facts */
function factList(facts) {
  return html("dl", { class: "facts" }, facts.map(([what, value]) => [html("dt", {}, what), html("dd", {}, html("bdi", {}, visible(value)))]));
}

/** @param {string[]} parts */
function known(...parts) {
  const there = parts.filter((part) => String(part).trim() !== "");
  return there.length === 0 ? "not known" : there.join(", ");
}

function environmentSection() {
  /** @type {Fact[]} */
  const facts = [];
  for (const environment of profile.environments) {
    const { processors } = environment;
    const clock = environment.clock_resolution_ns;
    facts.push(["Machine", known(environment.cpu, processors === 0 ? "" : plural(processors, "processor", "processors"), environment.arch, environment.os)]);
    facts.push(["Java", known(environment.java_version, environment.jvm, clock === 0 ? "" : "clock step " + duration(clock))]);
  }
  const recorded = samples + sum(profile.tiles, (tile) => tile.count);
  facts.push([
    "Profiler\u2019s own cost",
    profile.overhead_ns === 0 || shareNs === 0
      ? "not known"
      : "about " + duration(profile.overhead_ns) + ", " + number((100 * profile.overhead_ns) / shareNs) + "\u00a0% of brick time ("
        + duration(profile.overhead_ns / recorded) + " a sample). This counts the clock reads of samples and their sums, "
        + "in a tight loop, but not cache misses, steps, requests, and optimisations that calls prevent: "
        + "brick run --overhead measures the whole cost.",
  ]);
  if (profile.l2_cache_hit_rate !== undefined) {
    facts.push(["L2 cache hit rate", percent(100 * profile.l2_cache_hit_rate) + "\u00a0%"]);
  }
  if (profile.zero_copy) {
    facts.push(["Zero copy", "transfers copy nothing"]);
  }
  return section("Environment", "", factList(facts));
}

/** Shows how the trace was read: the events that count, idle time, and what was left out, placed, ignored or faulty. */
function accountSection() {
  if (account === undefined) {
    return "";
  }
  const list = account.lines.map(({ what, value }) => [
    html("dt", {}, visible(what)),
    html("dd", { class: what === "" && value.startsWith(" ") ? "under" : false }, html("bdi", {}, visible(value.trim()))),
  ]);
  return section("How this was read", "", html("dl", { class: "facts" }, list));
}

// ---- one pass: its layers, and its graph as a tree along its critical path ----

/**
 * Returns the nodes of a graph, made from its columns, with their children.
 *
 * @param {PassGraph} graph
 */
function nodesOf(graph) {
  const categories = new Map(bricks.map((brick) => [brick.name, brick.category]));
  const names = graph.name.map((name) => graph.names[name]);
  /** @type {PassNode[]} */
  const nodes = names.map((name, i) => ({
    name,
    kind: graph.kinds[graph.kind[i]],
    layer: graph.layer[i],
    category: categories.get(name) || "Other",
    ns: graph.node_ns[i],
    selfNs: graph.self_ns[i],
    startNs: graph.start_ns[i],
    slackNs: graph.slack_ns[i],
    parent: graph.parent[i],
    children: [],
  }));
  nodes.filter((node) => node.parent >= 0).forEach((node) => nodes[node.parent].children.push(node));
  return nodes;
}

/**
 * Returns the time by brick and layer: a map from the name to its times by layer; null if it did not run in a layer.
 *
 * @param {PassNode[]} nodes
 * @returns {Layers}
 */
function byLayer(nodes) {
  const layers = [...new Set(nodes.filter((node) => node.layer >= 0).map((node) => node.layer))].sort((a, b) => a - b);
  /** @type {Map<string, LayerRow>} */
  const rows = new Map();
  for (const layer of nodes.filter((node) => node.layer >= 0)) {
    const at = layers.indexOf(layer.layer);
    for (const node of layer.children) {
      const row = rows.get(node.name) ?? { name: node.name, category: node.category, times: layers.map(() => null) };
      row.times[at] = (row.times[at] ?? 0) + node.ns;
      rows.set(node.name, row);
    }
  }
  return { layers, rows: [...rows.values()], heads: "Each brick\u2019s time in each layer of one pass" };
}

/** A cell of the layers is named if it takes at least this multiple of the median over the layers. */
const NAMED_FROM = 1.1;

/** Shows the time of bricks by layer, shaded by what each cell takes above the median layer of its brick. */
function layerSection() {
  if (layerTimes === undefined || layerTimes.layers.length < 2 || layerTimes.rows.length === 0) {
    return "";
  }
  const { layers, heads } = layerTimes;
  const rows = layerTimes.rows.map(({ name, times }) => ({ name, times, median: median(present(times)) }));
  const cells = rows.flatMap((row) => row.times.flatMap((ns, x) => (ns === null ? [] : [{ row, layer: layers[x], ns, lostNs: Math.max(0, ns - row.median) }])));
  const mostNs = Math.max(...cells.map(({ lostNs }) => lostNs));
  const far = cells
    .filter(({ row, ns }) => ns > NAMED_FROM * row.median)
    .sort((a, b) => b.lostNs - a.lostNs)
    .slice(0, 3)
    .map((cell) => shortened(cell.row.name) + " in layer " + cell.layer + ", " + duration(cell.lostNs));
  const said = far.length === 0
    ? "No brick takes 10 % more than its median in any layer."
    : "Most time above the median layer: " + far.join("; ") + ".";
  /**
   * @param {HeatRow} row
   * @param {number} layer
   * @param {number} ns
   */
  const describe = (row, layer, ns) =>
    shortened(row.name) + " in layer " + layer + ": " + duration(ns) + ", "
      + (ns === row.median ? "the median" : duration(Math.abs(ns - row.median)) + (ns > row.median ? " above the median" : " below the median"));
  /** @type {Scale} */
  const scale = {
    of: (ns, row) => (mostNs === 0 ? 0 : Math.max(0, ns - row.median) / mostNs),
    from: 0,
    words: ["at the brick\u2019s median layer or below ", " " + duration(mostNs) + " above it"],
  };
  return section(
    "Layers",
    note(heads + (timeline !== undefined && timeline.chosen !== undefined ? ", in the chosen steps only" : "") + ", shaded by the time above its median over the layers"),
    html("p", {}, said),
    heatMap({ name: "Layers", columns: layers, axis: "layer", end: ["median", (row) => duration(row.median)], rows, said, describe, scale, address: (row) => rowAddress(row.name) }),
  );
}

const MOST_ROOTS = 500;

/**
 * @param {PassGraph} graph
 * @param {PassNode[]} nodes
 */
function graphSection(graph, nodes) {
  const roots = nodes.filter((node) => node.parent < 0);
  const critical = nodes.filter((node) => node.slackNs === 0).length;
  if (critical === nodes.length && graph.left_out === 0) {
    return section(
      "Critical path",
      "",
      html("p", {}, "All " + plural(nodes.length, "node", "nodes") + " of one pass lie on its critical path, one after the other: " + duration(graph.total_ns) + "."),
    );
  }
  const width = 560;
  /** @param {number} ns */
  const scale = (ns) => width * ratio(ns, graph.total_ns);

  /**
   * Draws the time of a node from its earliest start, on the time axis of the critical path.
   *
   * @param {PassNode} node
   */
  function place(node) {
    const bar = svg(
      "svg",
      { width, height: 14, viewBox: `0 0 ${width} 14`, "aria-hidden": "true" },
      svg("line", { class: "axis", x1: 0, x2: width, y1: 13.5, y2: 13.5 }),
      svg("rect", {
        class: node.slackNs === 0 ? "shape" : "shape off-path",
        x: scale(node.startNs).toFixed(1),
        y: 2,
        width: Math.max(1, Number(scale(node.ns).toFixed(1))),
        height: 10,
      }),
    );
    bar.style.setProperty("--colour", colour(node.category));
    return bar;
  }

  /**
   * @param {PassNode} node
   * @param {number} depth
   * @returns {TreeRow}
   */
  function rowOf(node, depth) {
    const label = [named(node.name), node.kind === "Brick" || node.kind === "Layer" ? "" : html("span", { class: "quiet" }, " " + node.kind.toLowerCase())];
    /** @type {TreeRow[]} */
    let below = [];
    const opener = node.children.length === 0
      ? html("span", { class: "leaf" }, label)
      : html("button", { type: "button", class: "open", "aria-expanded": "false", onclick: toggle }, html("span", {}, label));
    const tr = html(
      "tr",
      {},
      html("th", { scope: "row", class: "text", "--depth": Math.min(depth, 20) }, opener),
      html("td", { class: "text" }, place(node)),
      html("td", {}, time(node.ns)),
      html("td", {}, time(node.selfNs)),
      html("td", {}, node.slackNs === 0 ? "on the path" : time(node.slackNs)),
    );

    function close() {
      below.forEach((child) => child.close());
      below.forEach((child) => child.tr.remove());
      below = [];
    }

    function toggle() {
      const opening = below.length === 0;
      if (opening) {
        below = node.children.map((child) => rowOf(child, depth + 1));
        tr.after(...below.map((child) => child.tr));
      } else {
        close();
      }
      opener.setAttribute("aria-expanded", String(opening));
    }

    return { tr, close };
  }

  const heads = ["node", "earliest start to end, on the critical path\u2019s time", "total", "self", "slack"];
  const element = html(
    "table",
    { class: "tree" },
    html("caption", { class: "unseen" }, "Critical path"),
    html("thead", {}, html("tr", {}, heads.map((head, i) => html("th", { scope: "col", class: i < 2 ? "text" : false }, head)))),
    html("tbody", {}, roots.slice(0, MOST_ROOTS).map((node) => rowOf(node, 0).tr)),
  );
  const omitted = graph.left_out + Math.max(0, roots.length - MOST_ROOTS);
  return section(
    "Critical path",
    note("One pass as recorded: " + duration(graph.total_ns) + " through " + plural(critical, "node", "nodes") + " of " + count(nodes.length + graph.left_out)
      + (omitted > 0 ? "; " + plural(omitted, "node is", "nodes are") + " not listed" : "")),
    html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Critical path, table" }, element),
  );
}

function graphOfPass() {
  const graph = held("graph");
  return graph === undefined || graph.name.length === 0 ? undefined : graph;
}

/**
 * Returns the time of bricks by layer: over all passes if there is a timeline with layers, otherwise of the pass with a
 * graph; undefined without either.
 *
 * @returns {Layers | undefined}
 */
function layerTimesOfProfile() {
  if (timeline !== undefined && timeline.layers > 0) {
    const rows = timeline.bricks.map((brick) => ({ ...brick, times: brick.ns }));
    return { layers: Array.from({ length: timeline.layers }, (_, layer) => layer), rows, heads: "Each brick\u2019s mean time in each layer" };
  }
  return graph === undefined ? undefined : byLayer(nodes);
}

// ---- the median and the slowest step ----

const LANE = 18;
const MOST_LANES = 24;

/** Spans below this width are drawn without a border, which would cover them. */
const NARROW_SPAN = 4;

/**
 * Returns the lane of each span of a track: the first free one when it begins, so that nested spans are below it.
 *
 * @param {Span[]} spans
 */
function lanesOf(spans) {
  /** @type {number[]} */
  const ends = [];
  return spans.map((span) => {
    const free = ends.findIndex((endNs) => endNs <= span.startNs);
    const lane = Math.min(MOST_LANES - 1, free < 0 ? ends.length : free);
    ends[lane] = span.startNs + span.ns;
    return lane;
  });
}

/**
 * The height of a span by the evidence for its brick, as a share of its lane; of any other span, the whole lane.
 *
 * @type {Record<Evidence, number>}
 */
const HEIGHTS = { named: 1, place: 0.5, none: 0.25 };

/**
 * Returns the spans of a step. A span that counts as a brick has the brick's name and category; its own name is that of
 * its event.
 *
 * @param {Timeline} timeline
 * @param {ShownStep} step
 * @returns {Span[]}
 */
function spansOf(timeline, step) {
  return step.name.map((number, i) => ({
    ...spanName(timeline.names[number]),
    track: step.track[i],
    layer: step.layer[i],
    startNs: step.start_ns[i],
    ns: step.ns[i],
  }));
}

/** @param {SpanName} known */
function spanName({ name, category, brick, counted, by }) {
  return { name: brick ?? name, category: counted ?? category, event: name, by };
}

/** @param {Span} span */
function isUncounted(span) {
  return timeline !== undefined && timeline.counted && span.by === undefined;
}

/** @param {Span} span */
function spanText(span) {
  const where = span.layer < 0 || span.category === "layer" ? "" : " in layer " + span.layer;
  const known = isUncounted(span) ? ", not counted" : span.by === "place" ? ", placed by guess" : span.by === "none" ? ", its brick is not known" : "";
  const event = span.event === span.name ? "" : ": " + shortened(span.event);
  return shortened(span.name) + where + ", " + duration(span.ns) + ", from " + duration(span.startNs) + " on" + known + event;
}

/**
 * Explains the colours and heights of the spans in a timeline of another program.
 *
 * @param {Timeline} timeline
 */
function spanKey(timeline) {
  const names = [...new Set(timeline.shown.flatMap((step) => step.name))].map((number) => timeline.names[number]);
  const categories = recordedCategories().filter(({ name }) => names.some(({ counted }) => counted === name));
  /** @param {Evidence | undefined} by */
  const has = (by) => names.some((name) => name.by === by);
  return html(
    "p",
    { class: "quiet key" },
    "A span has the colour of the category in which its time is counted: ",
    ...categories.map(({ name }) => categoryCell(name)),
    has("place") ? " Half as high: placed by guess." : "",
    has("none") ? " A quarter as high: nothing names its brick." : "",
    has(undefined) ? " Pale: not counted." : "",
  );
}

/**
 * Returns the time of spans by name, without layers.
 *
 * @param {Span[]} spans
 */
function timesOf(spans) {
  /** @type {Map<string, number>} */
  const times = new Map();
  spans
    .filter((span) => span.category !== "layer")
    .forEach((span) => times.set(span.name, (times.get(span.name) || 0) + span.ns));
  return times;
}

/**
 * @param {ShownStep} step
 * @param {Span[]} spans
 */
function stepText(step, spans) {
  const longest = [...timesOf(spans)].sort((a, b) => b[1] - a[1]).slice(0, 5);
  return "Timeline of the " + step.what + " " + stepName(step.phase) + ", " + duration(step.elapsed_ns) + ". Most time: "
    + longest.map(([name, ns]) => shortened(name) + " " + duration(ns)).join(", ");
}

/** If one of two steps takes more than this multiple of the other one's time, each has an axis of its own. */
const MOST_ON_ONE_AXIS = 2;

/**
 * @param {Timeline} timeline
 * @param {ShownStep} shown
 * @param {number} longestNs the end of the axis
 * @param {number} otherNs where the other step would end on this axis; 0 without another one
 * @param {HTMLElement} readout
 */
function drawStep(timeline, shown, longestNs, otherNs, readout) {
  const spans = spansOf(timeline, shown);
  const onDevice = spans.filter((span) => timeline.streams[span.track]);
  const threads = new Set(spans.filter((span) => !timeline.streams[span.track]).map((span) => span.track)).size;
  const isFoldable = onDevice.length > 0 && threads > 0;
  const scroll = html(
    "div",
    { class: "scroll", role: "region", tabindex: "0", "aria-label": "The " + shown.what + " " + stepName(shown.phase) },
    pictureOf(timeline, shown, isFoldable ? onDevice : spans, longestNs, otherNs, readout),
  );
  if (!isFoldable) {
    return scroll;
  }
  const fold = html("button", { type: "button", class: "action", "aria-expanded": "false", onclick: toggle }, plural(threads, "host thread", "host threads"));

  function toggle() {
    const isOpening = fold.getAttribute("aria-expanded") === "false";
    fold.setAttribute("aria-expanded", String(isOpening));
    scroll.replaceChildren(pictureOf(timeline, shown, isOpening ? spans : onDevice, longestNs, otherNs, readout));
  }

  return html("div", {}, scroll, fold);
}

/**
 * Draws spans of a step by track: first the streams of devices, then the threads of the host.
 *
 * @param {Timeline} timeline
 * @param {ShownStep} shown
 * @param {Span[]} spans
 * @param {number} longestNs
 * @param {number} otherNs
 * @param {HTMLElement} readout
 */
function pictureOf(timeline, shown, spans, longestNs, otherNs, readout) {
  const width = 1150;
  /** @param {number} ns */
  const x = (ns) => (width * ratio(ns, longestNs)).toFixed(1);
  const picture = svg("svg", { role: "img", "aria-label": stepText(shown, spans) });
  /** @type {Map<EventTarget | null, Span>} */
  const spanOf = new Map();
  let y = 0;
  const inOrder = [...timeline.tracks.keys()].sort((a, b) => Number(timeline.streams[b]) - Number(timeline.streams[a]));
  inOrder.forEach((number) => {
    const there = spans.filter((span) => span.track === number);
    if (there.length === 0) {
      return;
    }
    picture.append(svg("text", { x: 0, y: y + 12 }, shortened(timeline.tracks[number])));
    y += LANE;
    const lanes = lanesOf(there);
    there.forEach((span, i) => {
      const isLayer = span.category === "layer";
      const wide = width * ratio(span.ns, longestNs);
      const height = span.by === undefined ? 1 : HEIGHTS[span.by];
      const box = svg("rect", {
        class: ["span", isLayer ? "layer" : wide < NARROW_SPAN && "narrow", isUncounted(span) ? "uncounted" : rowAddress(span.name) !== undefined && "leads"].filter(Boolean).join(" "),
        "--colour": isLayer ? false : colour(span.category),
        x: x(span.startNs),
        y: y + LANE * lanes[i] + (LANE - 2) * (1 - height),
        width: Math.max(0.5, wide).toFixed(1),
        height: (LANE - 2) * height,
      });
      spanOf.set(box, span);
      picture.append(box);
      const letters = Math.floor((wide - 6) / 7);
      if (letters >= 3) {
        const characters = Array.from(visible(span.name));
        const text = characters.length <= letters ? characters.join("") : characters.slice(0, letters - 1).join("") + "\u2026";
        picture.append(svg("text", { class: isLayer ? "within" : "within strong", x: (Number(x(span.startNs)) + 3).toFixed(1), y: y + LANE * lanes[i] + 12 }, text));
      }
    });
    y += LANE * (1 + Math.max(...lanes)) + 4;
  });
  if (otherNs > 0) {
    picture.append(svg("line", { class: "median", x1: x(otherNs), x2: x(otherNs), y1: 0, y2: y }));
  }
  picture.append(svg("line", { class: "axis", x1: 0, x2: width, y1: y, y2: y }));
  const every = roundUp(longestNs / 12);
  for (let ns = 0; ns <= longestNs; ns += every) {
    picture.append(svg("line", { class: "axis", x1: x(ns), x2: x(ns), y1: y, y2: y + 4 }));
    picture.append(svg("text", { x: x(ns), y: y + 16, "text-anchor": ns === 0 ? "start" : "middle" }, ns === 0 ? "0" : step(ns)));
  }
  fill(picture, { width, height: y + 20, viewBox: `0 0 ${width} ${y + 20}` }, []);
  picture.addEventListener("pointermove", ({ target }) => {
    const span = spanOf.get(target);
    readout.textContent = span === undefined ? NARROW : spanText(span);
  });
  picture.addEventListener("click", ({ target }) => {
    const span = spanOf.get(target);
    follow(span === undefined ? undefined : rowAddress(span.name, shown.phase));
  });
  return picture;
}

/**
 * Returns the spans that are nested in no other span of their track except a layer.
 *
 * @param {Span[]} spans
 */
function outermost(spans) {
  /** @type {Map<number, number>} */
  const ends = new Map();
  return [...spans]
    .filter((span) => span.category !== "layer")
    .sort((a, b) => a.startNs - b.startNs || b.ns - a.ns)
    .filter((span) => {
      const isInside = span.startNs + span.ns <= (ends.get(span.track) ?? -Infinity);
      if (!isInside) {
        ends.set(span.track, span.startNs + span.ns);
      }
      return !isInside;
    });
}

/**
 * Returns the time that the thread of the slowest step spent in additional or longer spans, if both are drawn
 * completely.
 *
 * @param {Timeline} timeline
 * @param {ShownStep} median
 * @param {ShownStep} slowest
 */
function differenceOf(timeline, median, slowest) {
  const [usual, slow] = [median, slowest].map((step) => {
    const spans = outermost(spansOf(timeline, step));
    const driving = drivingTrack(spans);
    return timesOf(spans.filter((span) => span.track === driving));
  });
  const longer = [...slow]
    .map(([name, ns]) => ({ name, ns: ns - (usual.get(name) || 0) }))
    .filter(({ ns }) => ns > 0)
    .sort((a, b) => b.ns - a.ns)
    .slice(0, 3);
  const by = "The slowest " + stepName(slowest.phase) + " took " + duration(slowest.elapsed_ns - median.elapsed_ns) + " longer than the median";
  return median.omitted + slowest.omitted > 0 || longer.length === 0
    ? by + "."
    : [by, ". What took longer: ", ...longer.flatMap(({ name, ns }, i) => [i === 0 ? "" : ", ", brickLink(name, slowest.phase), " (" + duration(ns) + " more)"]), "."];
}

/**
 * Returns the name of the steps of a phase.
 *
 * @param {string} phase
 */
function stepName(phase) {
  return phase === "step" ? "step" : shortened(phase) + " step";
}

/** Shows the median and the slowest step of each phase of a timeline. */
function shownSteps() {
  if (timeline === undefined || timeline.shown.length === 0) {
    return [];
  }
  const lost = timeline.dropped > 0 ? "; " + plural(timeline.dropped, "span was", "spans were") + " lost while recording" : "";
  const chosen = timeline.chosen === undefined ? "" : " " + timeline.chosen.text;
  const text = plural(timeline.steps, "step", "steps") + " in the timeline" + lost + "." + chosen;
  const key = timeline.counted ? [spanKey(timeline)] : [];
  return [html("p", { class: "above" }, visible(text)), ...key, ...[...new Set(timeline.shown.map(({ phase }) => phase))].flatMap((phase) => shownOf(timeline, phase))];
}

/** Lists the slow steps of a profile without their spans. */
function slowestSteps() {
  const slowest = timeline === undefined && profile.slowest_steps !== undefined ? profile.slowest_steps.steps : [];
  const phases = [...new Set(slowest.map(({ phase }) => phase))];
  return phases.flatMap((phase) => [
    html("p", { class: "above" }, "Why " + stepName(phase.toLowerCase()) + "s were slow:"),
    html("ul", {}, ...slowest.filter((step) => step.phase === phase).map((step) => html("li", {}, visible(step.text)))),
  ]);
}

/**
 * @param {Timeline} timeline
 * @param {string} phase
 */
function shownOf(timeline, phase) {
  const all = timeline.shown.filter((shown) => shown.phase === phase);
  const slow = all.filter(({ what }) => what !== "median");
  const usual = all.filter(({ what }) => what === "median");
  const chosen = timeline.chosen === undefined ? [] : timeline.chosen.steps.filter((each) => each.phase === phase);
  if (chosen.length === 0) {
    const difference = all.length === 2 ? [html("p", {}, differenceOf(timeline, all[0], all[1]))] : [];
    return [...difference, ...drawnOf(timeline, phase, all)];
  }
  const place = html("div", {}, ...drawnOf(timeline, phase, [...usual, slow[0]]));
  /** @param {ShownStep} step */
  const choice = (step) =>
    html(
      "label",
      {},
      html("input", {
        type: "radio",
        name: "slow-" + phase,
        checked: step === slow[0],
        onchange: () => place.replaceChildren(html("div", {}, ...drawnOf(timeline, phase, [...usual, step]))),
      }),
      " " + visible(step.text || stepName(phase) + ", " + duration(step.elapsed_ns)),
    );
  const undrawn = chosen.filter((each) => slow.every((step) => step.text !== each.text));
  return [
    html("fieldset", { class: "choices" }, html("legend", {}, "Why " + stepName(phase) + "s were slow: choose one to see it beside the median"), ...slow.map(choice)),
    undrawn.length === 0 ? "" : html("ul", {}, ...undrawn.map((each) => html("li", {}, visible(each.text)))),
    place,
  ];
}

/**
 * Draws steps below each other, on one axis if their durations are similar.
 *
 * @param {Timeline} timeline
 * @param {string} phase
 * @param {ShownStep[]} all the median and a slow one, or the only one
 */
function drawnOf(timeline, phase, all) {
  const [shortestNs, longestNs] = [Math.min, Math.max].map((of) => of(...all.map((shown) => shown.elapsed_ns)));
  const apart = longestNs > MOST_ON_ONE_AXIS * shortestNs;
  return all.flatMap((shown) => {
    const readout = html("p", { class: "quiet readout" }, NARROW);
    const omitted = shown.omitted > 0 ? "; of its spans, the " + count(shown.omitted) + " shortest are not drawn" : "";
    const heading = capital(shown.what) + " " + stepName(phase) + (shown.number === undefined ? "" : " " + count(shown.number)) + ", " + duration(shown.elapsed_ns);
    const isLong = apart && shown.elapsed_ns === longestNs;
    const scale = !apart ? "" : isLong
      ? "; the dashed line is the end of the median step"
      : "; drawn " + ratio(longestNs, shortestNs).toFixed(1) + " times as wide as the slow one";
    return [
      html("h3", {}, heading, html("span", { class: "quiet" }, ", " + duration(shown.after_ns) + " after the first step" + omitted + scale)),
      drawStep(timeline, shown, apart ? shown.elapsed_ns : longestNs, isLong ? shortestNs : 0, readout),
      readout,
    ];
  });
}

/**
 * Returns the track with the most time, which is that of the thread that drives the step. Other tracks run in parallel.
 *
 * @param {Span[]} spans
 */
function drivingTrack(spans) {
  /** @type {Map<number, number>} */
  const times = new Map();
  spans.forEach((span) => times.set(span.track, (times.get(span.track) || 0) + span.ns));
  return [...times].sort((a, b) => b[1] - a[1]).map(([track]) => track)[0];
}

/**
 * Draws a distribution that belongs to no brick with {@link spread}.
 *
 * @param {Latency} latency
 * @param {number} minNs
 * @param {number} maxNs
 */
function spreadOf(latency, minNs, maxNs) {
  return spread({ count: 1, category: "Other", latency, min_ns: minNs, max_ns: maxNs, total_ns: 0 });
}

/**
 * @param {number} total
 * @param {number} n
 */
function mean(total, n) {
  const value = ratio(total, n);
  return Number.isInteger(value) ? count(value) : number(value);
}

/**
 * Returns the share of a time of the threads in the time of their steps; none if it is unknown.
 *
 * @param {Phase} phase
 * @param {number | undefined} ns
 */
function cpuShare(phase, ns) {
  return ns === undefined ? NONE : percent(Math.min(100, 100 * ratio(ns, phase.cpu_wall_ns ?? 0)));
}

/** @param {Phase[]} phases */
function phaseTable(phases) {
  /**
   * @param {Percentile} key
   * @returns {(phase: Phase) => Content}
   */
  const us = (key) => (each) => time(1e3 * each.durations[key]);
  /** @type {Column<Phase>[]} */
  const columns = present([
    { label: "phase", text: true, cell: (each) => each.phase },
    { label: "steps", cell: (each) => count(each.count) },
    { label: "avg", cell: (each) => time(ratio(each.total_ns, each.count)) },
    { label: "p50", cell: us("p50_us") },
    { label: "p99", cell: us("p99_us") },
    { label: "max", cell: (each) => time(each.max_ns) },
    { label: "min to max, p50 and p99", text: true, cell: (each) => spreadOf(each.durations, each.min_ns, each.max_ns) },
    phases.some((each) => each.prefill_tokens > 0) && { label: "prompt tokens/s", cell: (each) => rate(each.prefill_tokens_per_s) },
    { label: "output tokens/s", cell: (each) => rate(each.output_tokens_per_s) },
    { label: "batch", cell: (each) => mean(each.sequences, each.count) },
    { label: "KV length", cell: (each) => mean(each.kv_length, each.count) },
    phases.some((each) => each.cpu_steps !== undefined) && { label: "% on CPU", cell: (each) => cpuShare(each, each.cpu_ns) },
    phases.some((each) => each.cpu_waited_ns !== undefined) && {
      label: "% waiting for CPU",
      cell: (each) => cpuShare(each, each.cpu_waited_ns),
    },
    phases.some((each) => each.drafted_tokens > 0) && {
      label: "% of drafted accepted",
      cell: (each) => (each.drafted_tokens === 0 ? NONE : percent(100 * ratio(each.accepted_tokens, each.drafted_tokens))),
    },
  ]);
  return table("Steps by phase", columns, phases).element;
}

/**
 * Shows the latencies of steps. If there are requests, their latencies, which include the queue time, replace them.
 *
 * @param {Steps} steps
 */
function waitTable(steps) {
  if (profile.requests !== undefined) {
    return "";
  }
  const rows = WAITS.map(([label, key]) => ({ label, latency: steps[key] })).filter(({ latency }) => valuesOf(latency) > 0);
  if (rows.length === 0) {
    return "";
  }
  /**
   * @param {Percentile} key
   * @returns {(wait: Wait) => Content}
   */
  const at = (key) => (row) => time(1e3 * row.latency[key]);
  /** @param {Latency} latency */
  const first = ({ buckets }) => lowestNs(buckets[0][0]);
  /** @param {Latency} latency */
  const last = ({ buckets }) => lowestNs(buckets[buckets.length - 1][0] + 1);
  /** @type {Column<Wait>[]} */
  const columns = [
    { label: "what a user waits for", text: true, cell: (row) => row.label },
    { label: "of", cell: (row) => count(valuesOf(row.latency)) },
    { label: "p50", cell: at("p50_us") },
    { label: "p90", cell: at("p90_us") },
    { label: "p99", cell: at("p99_us") },
    { label: "p99.9", cell: at("p999_us") },
    { label: "min to max, p50 and p99", text: true, cell: (row) => spreadOf(row.latency, first(row.latency), last(row.latency)) },
  ];
  return table("Waits", columns, rows).element;
}

/**
 * Returns the steps of a phase that the profile contains, as objects in the order of their start.
 *
 * @param {Steps} steps
 * @param {string} phase
 */
function keptSteps(steps, phase) {
  const { kept, kept_columns: columns } = steps;
  return kept
    .map((values) => /** @type {KeptStep} */ (Object.fromEntries(values.map((value, i) => [columns[i], value]))))
    .filter((step) => step.phase === phase);
}

/**
 * Returns the brick time of a step by category, the longest first, with the height of each part of its bar. If the
 * brick time exceeds the duration of the step, the heights are scaled down to it.
 *
 * @param {KeptStep} step
 */
function partsOf(step) {
  const known = profile.categories.map(({ name }) => ({ name, ns: Number(step[name] || 0) })).filter(({ ns }) => ns > 0);
  const all = sum(known, ({ ns }) => ns);
  const scale = Math.min(1, ratio(step.duration_ns, all));
  return known.map(({ name, ns }) => ({ name, ns, heightNs: ns * scale })).sort((a, b) => b.ns - a.ns);
}

/** @param {KeptStep} step */
function keptText(step) {
  const parts = partsOf(step).slice(0, 4).map(({ name, ns }) => name + " " + duration(ns));
  return "step " + count(step.index) + ", " + duration(step.duration_ns) + ", KV length " + count(step.kv_length) + ", batch "
    + count(step.batch) + (parts.length === 0 ? "" : ": " + parts.join(", "));
}

/**
 * Draws the steps of a phase over time, each as a bar whose height is its duration.
 *
 * @param {Steps} steps
 * @param {Phase} phase
 */
function stepChart(steps, { phase, count: all }) {
  const kept = keptSteps(steps, phase);
  if (kept.length < 2) {
    return [];
  }
  const [width, height, left, top] = [1080, 120, 64, 6];
  const bottom = top + height;
  const startNs = kept[0].started_at_unix_ns;
  const last = kept[kept.length - 1];
  const spanNs = Math.max(1, last.started_at_unix_ns + last.duration_ns - startNs);
  /** @param {number} ns */
  const x = (ns) => left + (width * ns) / spanNs;
  const slowest = kept.reduce((a, b) => (b.duration_ns > a.duration_ns ? b : a));
  const longestNs = slowest.duration_ns;
  const summary = "Durations of " + plural(kept.length, phase + " step", phase + " steps") + " over " + duration(spanNs) + ". Slowest: " + keptText(slowest);
  const picture = svg("svg", {
    width: left + width + 20,
    height: bottom + 22,
    viewBox: `0 0 ${left + width + 20} ${bottom + 22}`,
    role: "img",
    "aria-label": summary,
  });
  /** @type {Map<EventTarget | null, KeptStep>} */
  const stepOf = new Map();
  /** @type {Map<EventTarget | null, string>} */
  const categoryOf = new Map();
  const everyNs = roundUp(longestNs / 3);
  for (let ns = 0; ns <= longestNs; ns += everyNs) {
    const y = bottom - (height * ns) / longestNs;
    picture.append(svg("line", { class: "axis", x1: left, x2: left + width, y1: y.toFixed(1), y2: y.toFixed(1) }));
    picture.append(svg("text", { x: left - 6, y: (y + 4).toFixed(1), "text-anchor": "end" }, ns === 0 ? "0" : step(ns)));
  }
  const everyX = roundUp(spanNs / 10);
  for (let ns = 0; ns <= spanNs; ns += everyX) {
    picture.append(svg("text", { x: x(ns).toFixed(1), y: bottom + 17, "text-anchor": ns === 0 ? "start" : "middle" }, ns === 0 ? "0" : step(ns)));
  }
  for (const each of kept) {
    const from = x(each.started_at_unix_ns - startNs);
    const wide = Math.max(2, (width * each.duration_ns) / spanNs - 0.5);
    const bar = svg("g", {});
    let y = bottom;
    for (const part of partsOf(each)) {
      const high = (height * part.heightNs) / longestNs;
      y -= high;
      const box = svg("rect", { class: "shape leads", "--colour": colour(part.name), x: from.toFixed(1), y: y.toFixed(1), width: wide.toFixed(1), height: high.toFixed(1) });
      categoryOf.set(box, part.name);
      bar.append(box);
    }
    const top = bottom - (height * each.duration_ns) / longestNs;
    // The rest was outside of bricks, or its bricks are unknown.
    bar.append(svg("rect", { class: "rest", x: from.toFixed(1), y: top.toFixed(1), width: wide.toFixed(1), height: Math.max(1, y - top).toFixed(1) }));
    [...bar.children].forEach((part) => stepOf.set(part, each));
    picture.append(bar);
  }
  const readout = html("p", { class: "quiet readout" }, NARROW);
  picture.addEventListener("pointermove", ({ target }) => {
    const step = stepOf.get(target);
    readout.textContent = step === undefined ? NARROW : keptText(step);
  });
  picture.addEventListener("click", ({ target }) => {
    const category = categoryOf.get(target);
    follow(category === undefined ? undefined : addressOf({ filter: category, phase }));
  });
  const sample = kept.length < all ? ", " + count(kept.length) + " of " + count(all) + ": a uniform sample, and the slowest" : "";
  return [
    html("h3", {}, capital(phase) + " steps over time", html("span", { class: "quiet" }, sample)),
    html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": phase + " steps over time" }, picture),
    readout,
  ];
}

/**
 * Draws the brick time of the median and the slowest step of a phase by category, unless a timeline shows both steps.
 *
 * @param {Steps} steps
 * @param {Phase} phase
 */
function stepBars(steps, { phase, durations }) {
  if (timeline !== undefined && timeline.shown.some((shown) => shown.phase === phase)) {
    return [];
  }
  const all = keptSteps(steps, phase);
  const kept = all.filter((each) => partsOf(each).length > 0).sort((a, b) => a.duration_ns - b.duration_ns);
  if (kept.length < 2) {
    return [];
  }
  const known = kept.length < all.length ? ", of the " + count(kept.length) + " of " + count(all.length) + " kept steps whose brick time is known" : "";
  /** @param {KeptStep} each */
  const distance = (each) => Math.abs(each.duration_ns - 1e3 * durations.p50_us);
  const median = kept.reduce((best, each) => (distance(each) < distance(best) ? each : best));
  const slowest = kept[kept.length - 1];
  return [
    html("h3", {}, "The median and the slowest " + stepName(phase) + " by category", html("span", { class: "quiet" }, known)),
    bars([{ what: "median", each: median }, { what: "slowest", each: slowest }].map(({ what, each }) => ({
      label: what,
      total: duration(each.duration_ns),
      text: "The " + what + ": " + keptText(each),
      parts: partsOf(each).map(({ name, ns, heightNs }) => ({
        label: name + " " + duration(ns),
        colour: colour(name),
        pct: 100 * ratio(heightNs, slowest.duration_ns),
      })),
    }))),
  ];
}

/** Shows the steps that a serving engine annotated in its trace, with the time of their kernels. */
function annotatedTable() {
  const steps = profile.annotated_steps || [];
  if (steps.length === 0) {
    return [];
  }
  /**
   * @param {string} label
   * @param {"sequences" | "prompt_tokens" | "prompt_positions" | "decoded_tokens" | "decoded_positions"} key
   * @returns {Column<AnnotatedSteps> | false}
   */
  const each = (label, key) =>
    steps.some((step) => step[key] !== undefined) && {
      label,
      cell: (step) => {
        const total = step[key];
        return total === undefined ? NONE : mean(total, step.count);
      },
    };
  /** @type {Column<AnnotatedSteps>[]} */
  const columns = present([
    { label: "phase", text: true, cell: (step) => step.phase },
    { label: "steps", cell: (step) => count(step.count) },
    { label: "first to last kernel, avg", cell: (step) => time(ratio(step.total_ns, step.count)) },
    { label: "max", cell: (step) => time(step.max_ns) },
    each("sequences", "sequences"),
    each("prompt tokens", "prompt_tokens"),
    each("over positions", "prompt_positions"),
    each("decoded tokens", "decoded_tokens"),
    each("over positions", "decoded_positions"),
  ]);
  return [table("Annotated steps", columns, steps).element, note("Annotated by the engine; the other numbers are means of a step. A step lasts from its first kernel to its last one.")];
}

function stepsSection() {
  const recorded = stepsOf === undefined || phases.length === 0
    ? []
    : [phaseTable(phases), waitTable(stepsOf), ...phases.flatMap((each) => [...stepChart(stepsOf, each), ...stepBars(stepsOf, each)])];
  const content = [...annotatedTable(), ...recorded, ...shownSteps(), ...slowestSteps()];
  return content.length === 0 ? "" : section("Steps", "", ...content);
}

// ---- the distance to the roof ----

/** The meaning of the bound "neither". */
const UNEXPLAINED = "neither bytes nor operations explain it";

/** @param {Bound} bound */
function boundText(bound) {
  return bound === "neither" ? UNEXPLAINED : "bound by " + bound;
}

/**
 * Returns the cell of what limits a brick or a kernel.
 *
 * @param {Bound} bound
 */
function boundCell(bound) {
  return [symbolOf(bound), bound === "neither" ? html("span", { title: capital(UNEXPLAINED) }, "neither") : bound];
}

/** @type {Record<Bound | "tile", string>} */
const BOUNDS = {
  memory: "M-4.5 0A4.5 4.5 0 1 0 4.5 0A4.5 4.5 0 1 0 -4.5 0Z",
  compute: "M-4 -4H4V4H-4Z",
  neither: "M0 -5L5 4H-5Z",
  tile: "M0 -5L5 0L0 5L-5 0Z",
};

/**
 * @param {Bound | "tile"} bound
 * @param {number} x
 * @param {number} y
 * @param {string} category
 * @param {number} [size] a multiple of the usual width
 */
function boundMark(bound, x, y, category, size = 1) {
  const place = `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
  const mark = svg("path", { class: "shape", d: BOUNDS[bound], transform: size === 1 ? place : `${place} scale(${size.toFixed(2)})` });
  mark.style.setProperty("--colour", colour(category));
  return mark;
}

/**
 * Returns the points of tiles with a known rate, which is that of one worker if each worker times its own tiles.
 *
 * @returns {RoofPoint[]}
 */
function tilePoints() {
  return profile.tiles
    .filter((tile) => tile.gflops > 0 && tile.arithmetic_intensity > 0)
    .map((tile) => ({ name: tile.level + " tiles", bound: "tile", x: tile.arithmetic_intensity, y: tile.gflops, ns: tile.total_ns, category: "Other" }));
}

/**
 * @param {Roofline} roofline
 * @returns {RoofPoint[]}
 */
function brickPoints(roofline) {
  const categories = new Map(bricks.map((brick) => [brick.name, brick.category]));
  return roofline.bricks.flatMap((brick) => {
    const intensity = brick.arithmetic_intensity ?? 0;
    return brick.gflops > 0 && intensity > 0
      ? [{
          name: (brick.above_roof ? "! " : "") + shortened(brick.name),
          bound: brick.bound,
          x: intensity,
          y: brick.gflops,
          ns: brick.total_ns,
          category: categories.get(brick.name) ?? "Other",
          said: roofPart(brick),
        }]
      : [];
  });
}

/** @param {{ distance: number, bound: Bound }} each */
function roofPart(each) {
  return percent(100 * (1 - each.distance)) + "\u00a0% of its roof, " + boundText(each.bound);
}

/**
 * Returns the bandwidths that are the roof of a brick, and those of named levels, each once, the highest first.
 *
 * @param {Roofline} roofline
 * @returns {Roof[]}
 */
function roofs(roofline) {
  const used = new Set(roofline.bricks.map((brick) => brick.bandwidth_gbps));
  /** @type {Map<number, string>} */
  const lines = new Map();
  roofline.bandwidths
    .filter((each) => each.level !== "" || used.has(each.gbps))
    .forEach((each) => lines.set(each.gbps, lines.get(each.gbps) || each.level));
  return [...lines].map(([gbps, level]) => ({ gbps, level })).sort((a, b) => b.gbps - a.gbps);
}

/**
 * @param {number} from
 * @param {number} to
 */
function powersOfTen(from, to) {
  const powers = [];
  for (let power = Math.ceil(Math.log10(from) - 1e-9); power <= Math.log10(to) + 1e-9; power++) {
    powers.push(10 ** power);
  }
  return powers;
}

/** The half width of a mark of the usual size, and the sizes of the marks of the least and the most time. */
const MARK_RADIUS = 5;
const LEAST_MARK = 0.6;
const LARGEST_MARK = 2.6;
const LABEL_HIGH = 15;

/**
 * Draws a roofline chart: rates by intensity, both logarithmic. The first line is the highest.
 *
 * @param {string} name
 * @param {number} peak
 * @param {Roof[]} lines
 * @param {RoofPoint[]} points
 */
function roofChart(name, peak, lines, points) {
  const [width, height, left, top] = [900, 380, 60, 24];
  const least = Math.min(...lines.map((line) => line.gbps));
  const xs = [...points.map((point) => point.x), peak / least];
  const ys = [...points.map((point) => point.y), peak];
  /** @param {number[]} values */
  const low = (values) => 10 ** Math.floor(Math.log10(Math.min(...values) / 1.5));
  /** @param {number[]} values */
  const high = (values) => 10 ** Math.ceil(Math.log10(Math.max(...values) * 1.5));
  const [x0, x1, y0, y1] = [low(xs), high(xs), low(ys), high(ys)];
  /**
   * @param {number} value
   * @param {number} from
   * @param {number} to
   */
  const at = (value, from, to) => Math.log(value / from) / Math.log(to / from);
  /** @param {number} value */
  const x = (value) => left + width * at(value, x0, x1);
  /** @param {number} value */
  const y = (value) => top + height * (1 - at(value, y0, y1));
  const bottom = top + height;
  const said = points.filter((point) => point.said !== undefined).map((point) => point.name + " " + point.said);
  const right = left + width + 150;
  const picture = svg("svg", {
    width: right,
    role: "img",
    "aria-label": name + ", up to " + number(peak) + " GFLOP/s. " + said.slice(0, 12).join("; "),
  });
  for (const value of powersOfTen(x0, x1)) {
    picture.append(svg("line", { class: "axis", x1: x(value), x2: x(value), y1: top, y2: bottom }));
    picture.append(svg("text", { x: x(value), y: bottom + 16, "text-anchor": "middle" }, String(Number(value.toPrecision(3)))));
  }
  for (const value of powersOfTen(y0, y1)) {
    picture.append(svg("line", { class: "axis", x1: left, x2: left + width, y1: y(value), y2: y(value) }));
    picture.append(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(Number(value.toPrecision(3)))));
  }
  picture.append(svg("text", { x: left + width / 2, y: bottom + 34, "text-anchor": "middle" }, "FLOP/B"));
  picture.append(svg("text", { x: 0, y: 10 }, "GFLOP/s"));
  const longestNs = Math.max(1, ...points.map((point) => point.ns));
  /** @param {RoofPoint} point */
  const size = (point) => Math.max(LEAST_MARK, LARGEST_MARK * Math.sqrt(point.ns / longestNs));
  /** @param {RoofPoint} point */
  const radius = (point) => MARK_RADIUS * size(point);
  /** @type {Box[]} */
  const taken = [{ x: 0, y: bottom + 22, wide: right, high: 44 }];
  points.forEach((point) => taken.push({ x: x(point.x) - radius(point), y: y(point.y), wide: 2 * radius(point), high: 2 * radius(point) }));
  /**
   * Places a label where it lies on no other label and on no point: below them, and to the left of a place too far right.
   *
   * @param {string} text
   * @param {number} atX
   * @param {number} atY
   * @param {Attributes} attributes
   */
  function label(text, atX, atY, attributes) {
    const wide = 7.2 * text.length;
    const box = { x: Math.max(0, Math.min(atX, right - wide)), y: atY, wide, high: LABEL_HIGH };
    /** @param {Box} other */
    const meets = (other) => Math.abs(other.y - box.y) < (other.high + box.high) / 2 && box.x < other.x + other.wide && other.x < box.x + box.wide;
    while (taken.some(meets)) {
      box.y += 3;
    }
    taken.push(box);
    picture.append(svg("text", { ...attributes, class: ["halo", attributes["class"] ?? ""].join(" ").trim(), x: box.x.toFixed(1), y: (box.y + 4).toFixed(1) }, text));
    return box;
  }
  picture.append(svg("line", { class: "roof", x1: x(Math.max(x0, peak / lines[0].gbps)).toFixed(1), x2: left + width, y1: y(peak).toFixed(1), y2: y(peak).toFixed(1) }));
  label(number(peak) + " GFLOP/s", left + width + 8, y(peak), {});
  for (const { gbps, level } of lines) {
    const from = Math.max(x0, y0 / gbps);
    const to = Math.min(x1, peak / gbps);
    if (to > from) {
      picture.append(svg("line", { class: "roof", x1: x(from).toFixed(1), y1: y(from * gbps).toFixed(1), x2: x(to).toFixed(1), y2: y(to * gbps).toFixed(1) }));
      label((level === "" ? "" : level + " ") + number(gbps) + " GB/s", x(from) + 6, y(from * gbps) + 8, {});
    }
  }
  for (const point of [...points].sort((a, b) => b.y - a.y)) {
    const [px, py] = [x(point.x), y(point.y)];
    const box = label(point.name, px + radius(point) + 6, py, { class: "strong" });
    picture.append(svg("path", { class: "range", d: `M${px.toFixed(1)} ${py.toFixed(1)}L${(box.x - 2).toFixed(1)} ${box.y.toFixed(1)}` }));
    picture.append(boundMark(point.bound, px, py, point.category, size(point)));
  }
  const lowest = Math.max(...taken.map(({ y: middle, high }) => middle + high / 2));
  fill(picture, { height: Math.ceil(lowest), viewBox: `0 0 ${right} ${Math.ceil(lowest)}` }, []);
  return html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": name }, picture);
}

/**
 * Shows which share of the time of each phase is bound by compute or memory, or explained by neither.
 *
 * @param {RooflinePhase[]} phases
 */
function boundsOfPhases(phases) {
  /** @type {Bound[]} */
  const bounds = ["compute", "memory", "neither"];
  /** @type {Column<RooflinePhase>[]} */
  const columns = [
    { label: "phase", text: true, cell: (phase) => phase.phase },
    ...bounds.map((bound) => ({
      label: bound === "neither" ? "% that neither bytes nor operations explain" : "% bound by " + bound,
      /** @param {RooflinePhase} phase */
      cell: (phase) => share(phase.bounds[bound], 1, 1, "Other"),
    })),
    { label: "% of roof", cell: (phase) => percent(100 * phase.attained) },
  ];
  return table("Bounds by phase", columns, phases).element;
}

function rooflineSection() {
  if (roofline === undefined) {
    return "";
  }
  const used = [...brickPoints(roofline), ...tilePoints()];
  const categories = new Map(bricks.map((brick) => [brick.name, brick.category]));
  /** @param {RooflineBrick} brick */
  const part = (brick) => 1 - brick.distance;
  /** @param {number | undefined} value */
  const rateCell = (value) => (value !== undefined && value > 0 ? number(value) : NONE);
  /** @param {RooflineBrick} brick */
  const level = (brick) => (roofline.bandwidths.find((each) => each.gbps === brick.bandwidth_gbps) || { level: "" }).level;
  /** @type {Column<RooflineBrick>[]} */
  const columns = [
    { label: "brick", text: true, value: (brick) => brick.name, cell: (brick) => brickLink(brick.name) },
    { label: "bound by", text: true, value: (brick) => brick.bound, cell: (brick) => boundCell(brick.bound) },
    { label: "total", value: (brick) => brick.total_ns, cell: (brick) => time(brick.total_ns) },
    { label: "counted", value: (brick) => brick.counted_ns, cell: (brick) => time(brick.counted_ns) },
    { label: "at the roof", value: (brick) => brick.roof_ns, cell: (brick) => time(brick.roof_ns) },
    {
      label: "% of roof",
      value: part,
      cell: (brick) => [share(brick.roof_ns, brick.counted_ns, Math.max(brick.counted_ns, brick.roof_ns), categories.get(brick.name) ?? "Other"), brick.above_roof ? " !" : ""],
    },
    {
      label: "roof",
      text: true,
      value: (brick) => brick.roof,
      cell: (brick) => (brick.roof === "compute" ? "operations" : number(brick.bandwidth_gbps) + " GB/s" + (level(brick) === "" ? "" : " of " + level(brick))),
    },
    { label: "GFLOP/s", value: (brick) => brick.gflops, cell: (brick) => rateCell(brick.gflops) },
    { label: "GB/s", value: (brick) => brick.gbps, cell: (brick) => rateCell(brick.gbps) },
    { label: "FLOP/B", value: (brick) => brick.arithmetic_intensity || 0, cell: (brick) => rateCell(brick.arithmetic_intensity) },
  ];
  return section(
    "Distance to the roof",
    note(known(roofline.cpu, plural(roofline.threads, "thread", "threads") + " on one brick", "measured " + moment(roofline.measured_at))),
    roofline.phases === undefined ? "" : boundsOfPhases(roofline.phases),
    used.length === 0 ? "" : [legend(used), roofChart("Roofline", roofline.peak_gflops, roofs(roofline), used)],
    roofline.bricks.length === 0
      ? html("p", {}, "No brick is compared: recordWork, or a WorkModel, states the work of bricks.")
      : table("Distance to the roof", columns, roofline.bricks).element,
    (roofline.phases ?? []).map((phase) => [
      html("p", { class: "above" }, "In " + phase.phase + " steps:"),
      table("Distance to the roof in " + phase.phase + " steps", columns, phase.bricks).element,
    ]),
    roofline.unplaced.length === 0
      ? ""
      : html("p", { class: "above" }, "Without known work or time: ", listed(roofline.unplaced)),
  );
}

/** @param {RoofPoint[]} points */
function legend(points) {
  const kinds = [...new Set(points.map((point) => point.bound))];
  return html(
    "p",
    { class: "quiet legend" },
    kinds.map((kind) => html("span", {}, symbolOf(kind), kind === "tile" ? "tiles, each by one thread" : boundText(kind))),
    html("span", {}, "The area of a point is its time."),
  );
}

/** The number of kernels that are drawn, those with the most time; further labels would hide them. */
const MOST_KERNELS_DRAWN = 40;

/** Draws kernels below the roof of their device, which differs from the roof of the machine. */
function kernelRoofSection() {
  if (kernelRoof === undefined) {
    return "";
  }
  const { peak_gflops: peak, bandwidth_gbps: gbps, unplaced } = kernelRoof;
  const kernels = [...kernelRoof.kernels].sort((a, b) => b.total_ns - a.total_ns);
  const drawn = kernels.filter((kernel) => kernel.gflops > 0).slice(0, MOST_KERNELS_DRAWN).map((kernel) => ({
    name: (kernel.above_roof > 0 ? "! " : "") + shortened(kernel.name),
    bound: kernel.bound,
    x: kernel.arithmetic_intensity,
    y: kernel.gflops,
    ns: kernel.total_ns,
    category: "Other",
    said: roofPart(kernel),
  }));
  /**
   * @param {string} label
   * @param {"distance" | "most_distance" | "least_distance"} key
   * @param {(kernel: RooflineKernel) => string} mark
   * @returns {Column<RooflineKernel>}
   */
  const part = (label, key, mark = () => "") => ({
    label,
    value: (kernel) => 1 - kernel[key],
    cell: (kernel) => percent(100 * (1 - kernel[key])) + mark(kernel),
  });
  /** @type {Column<RooflineKernel>[]} */
  const columns = [
    { label: "kernel", text: true, value: (kernel) => kernel.name, cell: (kernel) => named(kernel.name) },
    { label: "launches", value: (kernel) => kernel.count, cell: (kernel) => count(kernel.count) },
    { label: "total", value: (kernel) => kernel.total_ns, cell: (kernel) => (kernel.total_ns === 0 ? NONE : time(kernel.total_ns)) },
    { label: "bound by", text: true, value: (kernel) => kernel.bound, cell: (kernel) => boundCell(kernel.bound) },
    part("% of roof, median", "distance"),
    part("lowest", "most_distance"),
    part("highest", "least_distance", (kernel) => (kernel.above_roof > 0 ? " !" : "")),
    { label: "GFLOP/s", value: (kernel) => kernel.gflops, cell: (kernel) => number(kernel.gflops) },
    { label: "FLOP/B", value: (kernel) => kernel.arithmetic_intensity, cell: (kernel) => number(kernel.arithmetic_intensity) },
  ];
  const left = kernels.length - drawn.length;
  return section(
    "Distance of kernels to the roof",
    note("Of their device: " + number(peak) + " GFLOP/s, " + number(gbps) + " GB/s"),
    drawn.length === 0 ? "" : [legend(drawn), roofChart("Roofline of kernels", peak, [{ gbps, level: "memory" }], drawn)],
    kernels.length === 0
      ? html("p", {}, "No kernel has a known intensity and rate.")
      : table("Distance of kernels to the roof", columns, kernels, { sorted: 2 }).element,
    drawn.length > 0 && left > 0 ? html("p", { class: "above" }, "Listed, but not drawn: " + plural(left, "kernel", "kernels") + ".") : "",
    unplaced.length === 0 ? "" : html("p", { class: "above" }, "Launches without a known intensity or rate: ", listed(unplaced)),
  );
}

/** @param {Bound | "tile"} bound */
function symbolOf(bound) {
  return svg("svg", { class: "symbol", width: 16, height: 12, viewBox: "-7 -6 16 12", "aria-hidden": "true" }, boundMark(bound, 0, 0, "Other"));
}

function kernelSection() {
  const kernels = (held("kernels") || []).filter((kernel) => kernel.count > 0).sort((a, b) => b.total_ns - a.total_ns);
  if (kernels.length === 0) {
    return "";
  }
  const total = sum(kernels, (kernel) => kernel.total_ns);
  const dispatches = sum(kernels, (kernel) => kernel.count);
  /** @param {Kernel} kernel */
  const average = (kernel) => ratio(kernel.total_ns, kernel.count);
  /** @type {Column<Kernel>[]} */
  const columns = [
    { label: "kernel", text: true, value: (kernel) => kernel.name, cell: (kernel) => named(kernel.name), total: "all kernels" },
    { label: "backend", text: true, value: (kernel) => kernel.backend, cell: (kernel) => kernel.backend, total: "" },
    { label: "dispatches", value: (kernel) => kernel.count, cell: (kernel) => count(kernel.count), total: count(dispatches) },
    { label: "total", value: (kernel) => kernel.total_ns, cell: (kernel) => time(kernel.total_ns), total: time(total) },
    {
      label: "% of kernel time",
      value: (kernel) => kernel.total_ns,
      cell: (kernel) => share(kernel.total_ns, total, kernels[0].total_ns, "Other"),
      total: percent(total === 0 ? 0 : 100),
    },
    { label: "avg", value: average, cell: (kernel) => time(average(kernel)) },
    { label: "min", value: (kernel) => kernel.min_ns, cell: (kernel) => time(kernel.min_ns) },
    { label: "max", value: (kernel) => kernel.max_ns, cell: (kernel) => time(kernel.max_ns) },
  ];
  return section("Kernels", "", table("Kernels", columns, kernels, { sorted: 3 }).element);
}

/** Shows what was under way when the page was made: in words, and where the threads of a stall stand. */
function nowSection() {
  const now = profile.now;
  const recent = now === undefined ? [] : now.recent.filter(({ finished }) => finished > 0).map(({ text }) => text);
  if (now === undefined || now.text.length + recent.length === 0) {
    return "";
  }
  return section("Under way", "", html("ul", {}, ...[...now.text, ...recent].map((line) => html("li", {}, visible(line)))), ...now.threads.map(threadPlace));
}

/**
 * Shows the stack of a thread of a stall, and that of the thread that holds its lock.
 *
 * @param {ThreadUnderWay} thread
 */
function threadPlace(thread) {
  const held = thread.owner_frames.length === 0 ? [] : ["", (thread.owner ?? "") + " holds " + (thread.lock ?? "") + ":", ...thread.owner_frames];
  const stack = [thread.thread + " (" + thread.role + "), " + thread.state + ":", ...thread.frames, ...held];
  return html("pre", { tabindex: "0" }, stack.map(visible).join("\n"));
}

function checksumSection() {
  const text = held("checksums");
  if (text === undefined) {
    return "";
  }
  const [verdict, ...rest] = text.trimEnd().split("\n");
  return section("Checksums", "", html("p", {}, verdict), rest.length === 0 ? "" : html("pre", { tabindex: "0" }, rest.join("\n").trim()));
}

const sections = [
  findings(),
  nowSection(),
  requestsSection(),
  brickSection(),
  linesSection(),
  categorySection(),
  layerSection(),
  stepsSection(),
  rooflineSection(),
  tileSection(),
  graph === undefined ? "" : graphSection(graph, nodes),
  kernelSection(),
  kernelRoofSection(),
  deviceSection(),
  checksumSection(),
  meanwhileSection(),
  accountSection(),
  environmentSection(),
];
const bar = sectionBar(sections);

const model = profile.identity?.model;
const subject = source ?? model;
const heading = subject === undefined ? "Brick profile" : visible(subject) + ": brick profile";
document.title = heading;
searchByKey();

show(
  head(heading, headline(), "profile", "brick-profile.json"),
  notices(faults()),
  sections[0] || "",
  figures(),
  whole(),
  limits(),
  bar,
  ...sections.slice(1),
);
followAddress();
