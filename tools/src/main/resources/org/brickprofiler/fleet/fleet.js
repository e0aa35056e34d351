// @ts-check
/* Draws the page of a fleet, whose keys are those of FleetReport. page.js precedes it in the same module. */

const fleet = needed("fleet");
const { totals, stragglers, runs } = fleet;
const hosts = new Map(fleet.shares.map((each) => [keyOf(each.run_id, each.rank), each.host]));
/** The ranks that lack measurements. */
const incomplete = new Set(fleet.losses.map((each) => keyOf(each.run_id, each.rank)));

/** The bricks and the ranks whose times are estimates. */
const estimatedBricks = new Set(fleet.bricks.filter(isEstimated).map((each) => keyOf(each.category, each.brick)));
const hasEstimates = fleet.shares.some((each) => each.estimated === true);

// ---- words ----

/**
 * @param {string} run
 * @param {number | string} rank
 */
function keyOf(run, rank) {
  return run + "\n" + rank;
}

/**
 * Returns the name of a rank, with its run if there are several.
 *
 * @param {string} run
 * @param {number | string} rank
 */
function rankName(run, rank) {
  return runs.length > 1 ? run + ", rank " + rank : "rank " + rank;
}

/**
 * @param {string} run
 * @param {number} rank
 */
function rankText(run, rank) {
  const host = hosts.get(keyOf(run, rank));
  return rankName(run, rank) + mark(run, rank) + (host === undefined ? "" : " (" + host + ")");
}

/**
 * Returns a mark if a rank lacks measurements, otherwise an empty text.
 *
 * @param {string} run
 * @param {number} rank
 */
function mark(run, rank) {
  return incomplete.has(keyOf(run, rank)) ? "!" : "";
}

/**
 * @param {string} run
 * @param {number} rank
 */
function rankCell(run, rank) {
  return html("bdi", {}, shortened(rankText(run, rank)));
}

/** @param {number} pct */
function signed(pct) {
  const text = FORMATS[1].format(Math.abs(pct));
  return (text === "0.0" ? "" : pct < 0 ? "\u2212" : "+") + text;
}

/** @param {{ category: string, brick: string }} each */
function ofEstimates(each) {
  return estimatedBricks.has(keyOf(each.category, each.brick));
}

/**
 * Returns the text of a number, which begins with ~ if it is an estimate.
 *
 * @param {boolean | undefined} estimated
 * @param {string} text
 */
function rough(estimated, text) {
  return (estimated === true ? "~" : "") + text;
}

/** @param {number | undefined} ns */
function timeOr(ns) {
  return ns === undefined ? NONE : time(Math.max(0, ns));
}

/** @type {Record<StragglerKind, string>} */
const KINDS = {
  bricks: "slow in some bricks",
  throughout: "slow throughout",
  some_windows: "slow in some windows",
  drift: "drifting",
  link: "slow link",
  more_work: "more work",
  not_known: "late, cause not known",
};

/** @param {Straggler} each */
function whoOf(each) {
  return each.rank === undefined ? "host " + each.host : rankText(each.run_id, each.rank);
}

// ---- what is wrong with the data ----

function doubts() {
  const problems = fleet.problem_kinds.map((each) => [
    capital(each.kind.replaceAll("_", " ")) + ": " + count(each.count) + " (" + plural(each.left_out, "window", "windows") + " left out), such as ",
    html("bdi", {}, visible(each.example)),
  ]);
  return [...problems, ...fleet.remarks.map((remark) => html("bdi", {}, visible(remark)))];
}

function problemSection() {
  if (fleet.problems.length === 0) {
    return "";
  }
  /** @type {Column<Problem>[]} */
  const columns = [
    { label: "what", text: true, value: (each) => each.kind, cell: (each) => each.kind.replaceAll("_", " ") },
    { label: "run", text: true, value: (each) => each.run_id || "", cell: (each) => (each.run_id === undefined ? NONE : named(each.run_id)) },
    { label: "rank", value: (each) => (each.rank === undefined ? -1 : each.rank), cell: (each) => (each.rank === undefined ? NONE : String(each.rank)) },
    { label: "window", value: (each) => (each.win === undefined ? -1 : each.win), cell: (each) => (each.win === undefined ? NONE : String(each.win)) },
    { label: "windows left out", value: (each) => each.left_out, cell: (each) => count(each.left_out) },
    { label: "reason", text: true, cell: (each) => html("bdi", { class: "reason" }, visible((each.file === undefined ? "" : each.file + ": ") + each.reason)) },
  ];
  const all = sum(fleet.problem_kinds, (each) => each.count);
  const listed = fleet.problems.length < all ? note("The first " + count(fleet.problems.length) + " of " + count(all)) : "";
  return section("Problems of the data", listed, table("Problems of the data", columns, fleet.problems, { wide: true }).element);
}

// ---- the headline ----

function period() {
  /** @param {number} ms */
  const moment = (ms) => new Date(ms).toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");
  const from = Math.min(...runs.map((run) => run.start_ms));
  const to = Math.max(...runs.map((run) => run.end_ms));
  return Number.isFinite(from) ? "; from " + moment(from) + " to " + moment(to) : "";
}

/** @param {"device" | "model"} key */
function namesOf(key) {
  return [...new Set(present(runs.map((run) => run[key])))].map(shortened);
}

function deviceText() {
  const names = namesOf("device");
  return names.length > 0 ? names.join(", ") : runs.some((run) => run.devices > 1) ? "several kinds of device" : "device not known";
}

function figures() {
  const inHosts = sum(runs, (run) => run.hosts);
  const list = html(
    "dl",
    { class: "figures" },
    figure("Ranks", count(totals.ranks), (inHosts > 0 ? "on " + plural(inHosts, "host", "hosts") + ", " : "") + deviceText()),
    figure(runs.length === 1 ? "Windows" : "Runs", count(runs.length === 1 ? runs[0].windows : runs.length), namesOf("model").join(", ") || "model not known"),
  );
  const phase = fleet.phases[0];
  if (phase !== undefined) {
    const name = phase.phase === undefined ? "step" : shortened(phase.phase) + " step";
    list.append(figure("Time of a " + name, time(phase.total_ns / phase.steps), "mean of " + count(phase.steps) + " of all ranks; longest " + duration(phase.max_ns)));
    if (phase.tokens > 0 && phase.wall_ns) {
      list.append(figure("Tokens per second", number((1e9 * phase.tokens) / phase.wall_ns), "of one rank, of the time in which a " + name + " was under way"));
    }
  }
  return list;
}

/** @type {[name: string, key: keyof Parts, colour: string][]} */
const PARTS = [
  ["compute", "compute_ns", "var(--attention)"],
  ["communication", "communication_ns", "var(--ffn)"],
  ["idle", "idle_ns", "var(--other)"],
];

/**
 * Returns the known parts of a time, each with its percentage.
 *
 * @param {Parts} each
 */
function partsOf(each) {
  const all = sum(PARTS, ([, key]) => each[key] || 0);
  return PARTS.flatMap(([name, key, colour]) => {
    const ns = each[key];
    return ns === undefined ? [] : [{ name, colour, pct: 100 * ratio(ns, all) }];
  });
}

/** @param {RankShare} each */
function partTexts(each) {
  return partsOf(each).map(({ name, pct }) => name + " " + rough(each.estimated, percent(pct)) + NARROW + "%").join(", ");
}

/** Returns the findings, each with its next step. */
function findings() {
  const items = fleet.findings.map((each) => [
    html("bdi", {}, visible(each.sentence)),
    each.next === undefined || each.next.startsWith("with --html OUT") ? "" : html("span", { class: "quiet" }, " Next: " + visible(each.next) + "."),
  ]);
  return items.length === 0 ? "" : section("Findings", "", html("ol", { class: "findings" }, items.map((item) => html("li", {}, item))));
}

function whole() {
  const parts = partsOf(totals);
  if (sum(parts, ({ pct }) => pct) === 0) {
    return "";
  }
  /** @param {{ name: string, pct: number }} part */
  const label = ({ name, pct }) => name + " " + rough(hasEstimates, percent(pct)) + NARROW + "%";
  return stacked("Time of all ranks: " + parts.map(label).join(", "), parts.map((part) => ({ ...part, label: label(part) })));
}

// ---- stragglers ----

/**
 * Returns the numbers of the windows concerned, as far as they are known.
 *
 * @param {Straggler} each
 */
function windowText(each) {
  const stretches = each.windows.map(([first, last]) => (first === last ? String(first) : first + "\u2013" + last));
  return stretches.length > 0 ? stretches.join(", ") : each.kind === "some_windows" ? NONE : "all";
}

function shownSection() {
  if (fleet.shown.length === 0) {
    return "";
  }
  /** @param {number} value */
  const pct = (value) => FORMATS[1].format(value);
  /** @type {Column<ShownFrom>[]} */
  const columns = present([
    runs.length > 1 && { label: "run", text: true, value: (each) => each.run_id, cell: (each) => named(each.run_id) },
    { label: "device", text: true, value: (each) => each.device || "", cell: (each) => (each.device === undefined ? NONE : named(each.device)) },
    { label: "ranks", value: (each) => each.ranks, cell: (each) => count(each.ranks) },
    { label: "windows", value: (each) => each.windows, cell: (each) => count(each.windows) },
    { label: "throughout %", value: (each) => each.throughout_pct, cell: (each) => pct(each.throughout_pct) },
    { label: "in one brick, least %", value: (each) => each.least_brick_pct, cell: (each) => pct(each.least_brick_pct) },
    { label: "most %", value: (each) => each.most_brick_pct, cell: (each) => pct(each.most_brick_pct) },
    { label: "in some windows %", value: (each) => each.slow_windows_pct || -1, cell: (each) => (each.slow_windows_pct === undefined ? NONE : pct(each.slow_windows_pct)) },
    { label: "so many", value: (each) => each.slow_windows || -1, cell: (each) => (each.slow_windows === undefined ? NONE : count(each.slow_windows)) },
  ]);
  const words = "The least slowness of a rank that is found in four of five fleets like this one; less may be there and is not reported";
  return section("Shown from", note(words), table("Shown from", columns, fleet.shown.slice(0, MOST_LISTED), { wide: true }).element);
}

function lossSection() {
  if (fleet.losses.length === 0) {
    return "";
  }
  /** @type {Column<RankLosses>[]} */
  const columns = [
    { label: "rank", text: true, value: (each) => rankName(each.run_id, String(each.rank).padStart(9)), cell: (each) => rankCell(each.run_id, each.rank) },
    { label: "samples", value: (each) => each.samples, cell: (each) => count(each.samples) },
    { label: "unresolved", value: (each) => each.unresolved, cell: (each) => count(each.unresolved) },
    { label: "dropped", value: (each) => each.dropped, cell: (each) => count(each.dropped) },
    { label: "pending", value: (each) => each.pending, cell: (each) => count(each.pending) },
    { label: "missing %", value: (each) => each.missing_pct, cell: (each) => FORMATS[1].format(each.missing_pct) },
    { label: "windows not tested", value: (each) => each.untested, cell: (each) => count(each.untested) + " of " + count(each.windows) },
  ];
  const listed = fleet.losses.slice(0, MOST_LISTED);
  const words = "The largest share first; the tables mark these ranks with !"
    + (listed.length < fleet.losses.length ? ". " + count(listed.length) + " of " + plural(fleet.losses.length, "rank", "ranks") + " are listed" : "");
  return section("Missing measurements by rank", note(words), table("Missing measurements by rank", columns, listed, { wide: true }).element);
}

function stragglerSection() {
  if (stragglers.length === 0) {
    const words = fleet.shown.length === 0 ? "No rank could be tested." : "No rank and no host was found that keeps the others waiting.";
    return section("Stragglers", "", note(words));
  }
  const costs = stragglers.some((each) => each.cost_ns !== undefined);
  /** @type {Column<Straggler>[]} */
  const columns = present([
    { label: "who", text: true, value: whoOf, cell: (each) => html("bdi", {}, shortened(whoOf(each))) },
    { label: "kind", text: true, value: (each) => KINDS[each.kind], cell: (each) => KINDS[each.kind] },
    {
      label: "bricks",
      text: true,
      value: (each) => each.bricks.join(", "),
      cell: (each) => (each.bricks.length === 0 ? NONE : each.bricks.slice(0, 3).flatMap((brick, i) => [i === 0 ? "" : ", ", named(brick)]).concat(each.bricks.length > 3 ? ", \u2026" : "")),
    },
    { label: "longer %", value: (each) => each.longer_pct, cell: (each) => signed(each.longer_pct) },
    { label: "windows", value: (each) => each.window_count, cell: (each) => count(each.window_count) },
    { label: "which windows", text: true, value: (each) => (each.windows.length > 0 ? each.windows[0][0] : -1), cell: (each) => shortened(windowText(each)) },
    { label: "longer in a step", value: (each) => each.own_ns, cell: (each) => timeOr(each.own_ns) },
    costs && { label: "later in a step", value: (each) => (each.late_ns === undefined ? -1 : each.late_ns), cell: (each) => timeOr(each.late_ns) },
    costs && { label: "costs each step", value: (each) => (each.cost_ns === undefined ? -1 : each.cost_ns), cell: (each) => (each.cost_ns === undefined ? NONE : html("b", {}, timeOr(each.cost_ns))) },
  ]);
  const made = table("Stragglers", columns, stragglers, { detail: stragglerDetail, wide: true });
  return section("Stragglers", note("The most costly first; costs are what every rank waits"), made.element);
}

/** @param {Straggler} each */
function stragglerDetail(each) {
  const facts = [
    ["What", each.what],
    ["Run", each.run_id],
    ["Windows", windowText(each)],
    ...each.bricks.map((brick) => ["Brick", brick]),
  ];
  return html("dl", { class: "facts" }, facts.map(([what, value]) => [html("dt", {}, what), html("dd", {}, html("bdi", {}, visible(value)))]));
}

// ---- ranks by bricks ----

/** The distance from the median, %, that has the darkest shade; half of it has the middle shade. */
const FARTHEST_PCT = 10;

/** @type {Scale} */
const DISTANCES = {
  of: (ns, row) => Math.max(-1, Math.min(1, (100 * (ratio(ns, row.median) - 1)) / FARTHEST_PCT)),
  from: -1,
  words: [FARTHEST_PCT + NARROW + "% or more below the median ", " " + FARTHEST_PCT + NARROW + "% or more above"],
};

const CLOSER_LOOK = 24;

function mapSection() {
  const { bricks, ranks } = fleet.rank_bricks;
  if (ranks.length < 2 || bricks.length === 0) {
    return "";
  }
  /**
   * @param {number} ns
   * @param {{ median: number }} row
   */
  const distance = (ns, row) => (row.median > 0 ? 100 * (ns / row.median - 1) : 0);
  /** @param {RankMeans} rank */
  const farthest = (rank) => Math.max(...rank.mean_ns.map((ns, i) => (ns === null ? 0 : Math.abs(distance(ns, { median: bricks[i].median_ns })))));
  /**
   * @param {{ name: string, median: number, estimated?: boolean }} row
   * @param {RankMeans} rank
   * @param {number} ns
   */
  const describe = (row, rank, ns) =>
    shortened(row.name) + ", " + rankText(rank.run_id, rank.rank) + ": " + rough(row.estimated, duration(ns)) + ", " + rough(row.estimated, signed(distance(ns, row))) + NARROW + "%";
  const found = ranks
    .flatMap((rank) =>
      rank.mean_ns.flatMap((ns, i) => (ns === null ? [] : [{ rank, ns, row: { name: bricks[i].brick, median: bricks[i].median_ns, estimated: ofEstimates(bricks[i]) } }])),
    )
    .sort((a, b) => Math.abs(distance(b.ns, b.row)) - Math.abs(distance(a.ns, a.row)))
    .slice(0, 3);
  const said = "Farthest from their medians: " + found.map(({ row, rank, ns }) => describe(row, rank, ns)).join("; ") + ".";
  /**
   * @param {string} name
   * @param {RankMeans[]} shown
   */
  const drawn = (name, shown) =>
    heatMap({
      name,
      columns: shown.map((rank) => ({ ...rank, toString: () => String(rank.rank) })),
      axis: "rank",
      end: ["median", (row) => rough(row.estimated, duration(row.median))],
      rows: bricks.map((brick, i) => ({ name: brick.brick, median: brick.median_ns, estimated: ofEstimates(brick), times: shown.map((rank) => rank.mean_ns[i]) })),
      said,
      describe,
      scale: DISTANCES,
    });
  const leftOut = totals.ranks - ranks.length;
  const parts = [drawn("Ranks by bricks", ranks)];
  if (ranks.length > 3 * CLOSER_LOOK) {
    const near = [...ranks].sort((a, b) => farthest(b) - farthest(a)).slice(0, CLOSER_LOOK);
    parts.unshift(html("h3", {}, "The " + CLOSER_LOOK + " ranks that are farthest from the medians"), drawn("Farthest ranks by bricks", near), html("h3", {}, "All ranks"));
  }
  return section(
    "Ranks by bricks",
    note("The mean of a sample beside its median over the ranks" + (leftOut > 0 ? "; of " + count(totals.ranks) + " ranks the " + count(ranks.length) + " that are farthest from it" : "")),
    html("p", {}, said),
    parts,
  );
}

// ---- spread, shares, drift ----

function spreadSection() {
  if (fleet.spread.length === 0) {
    return "";
  }
  /** @param {SpreadOfBrick} each */
  const beyond = (each) => (each.median_ns > 0 ? 100 * (each.max_ns / each.median_ns - 1) : 0);
  const leastShownPct = fleet.shown.length === 0 ? Infinity : Math.min(...fleet.shown.map((each) => each.least_brick_pct));
  /** @type {Column<SpreadOfBrick>[]} */
  const columns = [
    { label: "brick", text: true, value: (each) => each.brick, cell: (each) => named(each.brick) },
    { label: "category", text: true, value: (each) => each.category, cell: (each) => categoryCell(each.category) },
    { label: "ranks", value: (each) => each.ranks, cell: (each) => count(each.ranks) },
    { label: "fastest", value: (each) => each.min_ns, cell: (each) => marked(ofEstimates(each), time(each.min_ns)) },
    { label: "which", text: true, cell: (each) => rankCell(each.min_run, each.min_rank) },
    { label: "median", value: (each) => each.median_ns, cell: (each) => marked(ofEstimates(each), time(each.median_ns)) },
    { label: "slowest", value: (each) => each.max_ns, cell: (each) => marked(ofEstimates(each), time(each.max_ns)) },
    { label: "which", text: true, cell: (each) => rankCell(each.max_run, each.max_rank) },
    {
      label: "slowest to median %",
      hint: "Grey if the test for stragglers could not have shown it",
      value: beyond,
      cell: (each) => html("span", { class: beyond(each) < leastShownPct ? "quiet" : false }, rough(ofEstimates(each), signed(beyond(each)))),
    },
  ];
  const made = table("Spread over ranks", columns, fleet.spread, { sorted: 8, wide: true });
  /** @param {SpreadOfBrick} each */
  const words = (each) => visible(each.brick) + "\n" + each.category;
  const beside = fleet.spread.length < 8 ? "" : filter(made.lines, "Filter by brick or category", words, "brick", "bricks");
  return section("Spread over ranks", beside, made.element);
}

const MOST_LISTED = 25;

/** Draws all ranks, each as a column of the parts of its time. */
function shareChart() {
  const shown = [...fleet.shares].sort((a, b) => (a.run_id === b.run_id ? a.rank - b.rank : a.run_id < b.run_id ? -1 : 1));
  const [width, height] = [Math.max(1, Math.min(26, Math.floor(1_100 / shown.length))), 110];
  const least = fleet.shares[0];
  const text = "What each rank did. Least communication: " + rankText(least.run_id, least.rank) + ", "
    + partTexts(least) + ".";
  const across = width * shown.length;
  const picture = svg("svg", { width: across, height, viewBox: `0 0 ${across} ${height}`, role: "img", "aria-label": text });
  const bases = shown.map(() => height);
  PARTS.forEach(([name, , colour]) => {
    /** @type {string[]} */
    const down = [];
    let up = "";
    shown.forEach((each, i) => {
      const part = partsOf(each).find((one) => one.name === name);
      down.push(`V${bases[i].toFixed(1)}h${-width}`);
      bases[i] -= part === undefined ? 0 : (height * part.pct) / 100;
      up += `V${bases[i].toFixed(1)}h${width}`;
    });
    picture.append(svg("path", { class: "shape", "--colour": colour, d: "M0 " + height + up + down.reverse().join("") + "z" }));
  });
  const readout = html("p", { class: "quiet readout" }, NARROW);
  picture.addEventListener("pointermove", (event) => {
    const each = shown[Math.floor((event.clientX - picture.getBoundingClientRect().left) / width)];
    readout.textContent = each === undefined ? NARROW : rankText(each.run_id, each.rank) + ": " + partTexts(each);
  });
  return [
    html("p", { class: "legend quiet" }, PARTS.map(([name, , colour]) => html("span", {}, html("i", { class: "swatch", "--colour": colour, "aria-hidden": "true" }), name))),
    html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Shares by rank, chart" }, picture),
    readout,
  ];
}

function shareSection() {
  if (fleet.shares.length === 0) {
    return "";
  }
  /**
   * @param {RankShare} each
   * @param {string} name
   */
  const pct = (each, name) => (partsOf(each).find((part) => part.name === name) || { pct: -1 }).pct;
  /** @type {Column<RankShare>[]} */
  const columns = [
    { label: "rank", text: true, value: (each) => rankName(each.run_id, String(each.rank).padStart(9)), cell: (each) => html("bdi", {}, shortened(rankName(each.run_id, each.rank) + mark(each.run_id, each.rank))) },
    { label: "host", text: true, value: (each) => each.host || "", cell: (each) => (each.host === undefined ? NONE : named(each.host)) },
    { label: "device", text: true, value: (each) => each.device || "", cell: (each) => (each.device === undefined ? NONE : named(each.device)) },
    ...PARTS.map(([name, key]) => partColumn(name, key)),
  ];

  /**
   * @param {string} name
   * @param {keyof Parts} key
   * @returns {Column<RankShare>}
   */
  function partColumn(name, key) {
    return {
      label: name + " %",
      value: (each) => pct(each, name),
      cell: (each) => (each[key] === undefined ? NONE : rough(each.estimated, percent(pct(each, name)))),
    };
  }

  const listed = fleet.shares.slice(0, MOST_LISTED);
  const made = table("Shares by rank", columns, listed);
  const words = "Those that communicate least first: they wait for nobody"
    + (listed.length < totals.ranks ? ". " + count(listed.length) + " of " + plural(totals.ranks, "rank", "ranks") + " are listed" : "");
  return section("Shares by rank", note(words), shareChart(), made.element);
}

/**
 * Draws a sparkline of a brick's time. Its scale reaches from half of the median to one and a half, or beyond.
 *
 * @param {DriftOfBrick} each
 * @param {Map<string, (number | null)[]>} timesOf
 */
function trend(each, timesOf) {
  const times = timesOf.get(keyOf(each.category, each.brick));
  const there = present(times || []);
  if (times === undefined || there.length < 2) {
    return NONE;
  }
  const [width, height] = [160, 24];
  const usual = median(there);
  const far = Math.max(0.05, ...there.map((ns) => Math.abs(ratio(ns, usual) - 1)));
  let d = "";
  times.forEach((ns, i) => {
    if (ns !== null) {
      const y = height / 2 - ((height / 2 - 2) * (ratio(ns, usual) - 1)) / far;
      d += (d === "" || times[i - 1] === null ? "M" : "L") + ((width * i) / (times.length - 1)).toFixed(1) + " " + y.toFixed(1);
    }
  });
  /** @param {number} ns */
  const words = (ns) => rough(ofEstimates(each), duration(ns));
  const text = "From " + words(there[0]) + " to " + words(there[there.length - 1]) + ", within " + words(Math.min(...there)) + " and " + words(Math.max(...there));
  return svg(
    "svg",
    { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": text, "--colour": colour(each.category) },
    title(text),
    svg("line", { class: "axis", x1: 0, x2: width, y1: height / 2, y2: height / 2 }),
    svg("path", { class: "line trend", d }),
  );
}

function driftSection() {
  if (fleet.drift.length === 0) {
    return "";
  }
  const timesOf = new Map(fleet.windows.map((each) => [keyOf(each.category, each.brick), each.median_ns]));
  /** @type {Column<DriftOfBrick>[]} */
  const columns = [
    { label: "brick", text: true, value: (each) => each.brick, cell: (each) => named(each.brick) },
    { label: "over time, middle rank", text: true, hint: "Each on a scale of its own around its median, of 5 % or more", cell: (each) => trend(each, timesOf) },
    { label: "first third", value: (each) => each.first_ns, cell: (each) => marked(ofEstimates(each), time(each.first_ns)) },
    { label: "last third", value: (each) => each.last_ns, cell: (each) => marked(ofEstimates(each), time(each.last_ns)) },
    { label: "change %", value: (each) => Math.abs(each.change_ppm), cell: (each) => rough(ofEstimates(each), signed(each.change_ppm / 1e4)) },
    { label: "rose on", value: (each) => each.risen, cell: (each) => plural(each.risen, "rank", "ranks") },
    { label: "fell on", value: (each) => each.fallen, cell: (each) => plural(each.fallen, "rank", "ranks") },
    { label: "most %", value: (each) => each.most_ppm, cell: (each) => rough(ofEstimates(each), signed(each.most_ppm / 1e4)) },
    { label: "which", text: true, cell: (each) => rankCell(each.most_run, each.most_rank) },
  ];
  return section("Drift", note("The mean of a sample, from the first third of the windows to the last"), table("Drift", columns, fleet.drift, { sorted: 4, wide: true }).element);
}

// ---- bricks, steps, runs ----

/**
 * Returns the column of the errors of estimates.
 *
 * @template {Estimable} Row
 * @returns {Column<Row>}
 */
function errorColumn() {
  return { label: "\u00b1 %", hint: "Half of its 95 % interval", value: errorOf, cell: errorCell };
}

function brickSection() {
  if (fleet.bricks.length === 0) {
    return "";
  }
  const all = sum(fleet.bricks, (brick) => brick.total_ns);
  const largest = fleet.bricks[0].total_ns;
  const unresolved = sum(fleet.bricks, (brick) => brick.unresolved || 0);
  /**
   * @param {string} label
   * @param {"min_ns" | "p50_ns" | "p90_ns" | "p99_ns" | "max_ns"} key
   * @returns {Column<FleetBrick> | false}
   */
  const at = (label, key) =>
    fleet.bricks.some((brick) => brick[key] !== undefined) && { label, value: (brick) => brick[key] ?? -1, cell: (brick) => timeOr(brick[key]) };
  /** @type {Column<FleetBrick>[]} */
  const columns = present([
    { label: "brick", text: true, value: (brick) => brick.brick, cell: (brick) => named(brick.brick), total: "all bricks" },
    { label: "category", text: true, value: (brick) => brick.category, cell: (brick) => categoryCell(brick.category), total: "" },
    { label: "count", value: (brick) => brick.count, cell: (brick) => count(brick.count), total: count(sum(fleet.bricks, (brick) => brick.count)) },
    unresolved > 0 && { label: "unresolved", value: (brick) => brick.unresolved || 0, cell: (brick) => count(brick.unresolved || 0), total: count(unresolved) },
    { label: "total", value: (brick) => brick.total_ns, cell: (brick) => marked(isEstimated(brick), time(brick.total_ns)), total: marked(hasEstimates, time(all)) },
    estimatedBricks.size > 0 && errorColumn(),
    { label: "% of brick time", value: (brick) => brick.total_ns, cell: (brick) => marked(hasEstimates, share(brick.total_ns, all, largest, brick.category)), total: percent(all === 0 ? 0 : 100) },
    { label: "avg", value: (brick) => ratio(brick.total_ns, brick.count), cell: (brick) => marked(isEstimated(brick), time(ratio(brick.total_ns, brick.count))) },
    at("min", "min_ns"),
    at("p50", "p50_ns"),
    at("p90", "p90_ns"),
    at("p99", "p99_ns"),
    at("max", "max_ns"),
  ]);
  return section("Bricks", note("As recorded, of all ranks and windows together"), table("Bricks", columns, fleet.bricks, { sorted: 3, wide: true }).element);
}

/** Shows prefill and decode separately, because their joint mean varies with the share of prompts. */
function brickPhaseSection() {
  const parts = new Set(fleet.bricks_by_phase.map((each) => each.phase));
  const isWhole = sum(fleet.bricks_by_phase, (each) => each.count) === sum(fleet.bricks, (each) => each.count);
  if (parts.size === 0) {
    return "";
  }
  if (parts.size === 1 && isWhole) {
    return section("Bricks by phase", note("All samples belong to " + [...parts][0] + " steps."));
  }
  /** @param {FleetPhaseBrick} each */
  const phaseNs = (each) =>
    sum(
      fleet.bricks_by_phase.filter((other) => other.phase === each.phase),
      (other) => other.total_ns,
    );
  const hasPercentiles = fleet.bricks_by_phase.some((each) => each.p50_ns !== undefined);
  /** @type {Column<FleetPhaseBrick>[]} */
  const columns = present([
    { label: "phase", text: true, value: (each) => each.phase, cell: (each) => named(each.phase) },
    { label: "brick", text: true, value: (each) => each.brick, cell: (each) => named(each.brick) },
    { label: "count", value: (each) => each.count, cell: (each) => count(each.count) },
    { label: "total", value: (each) => each.total_ns, cell: (each) => marked(isEstimated(each), time(each.total_ns)) },
    estimatedBricks.size > 0 && errorColumn(),
    {
      label: "% of the phase",
      value: (each) => ratio(each.total_ns, phaseNs(each)),
      cell: (each) => rough(hasEstimates, percent(100 * ratio(each.total_ns, phaseNs(each)))),
    },
    { label: "avg", value: (each) => ratio(each.total_ns, each.count), cell: (each) => (each.count === 0 ? NONE : marked(isEstimated(each), time(each.total_ns / each.count))) },
    hasPercentiles && { label: "p50", value: (each) => each.p50_ns ?? -1, cell: (each) => timeOr(each.p50_ns) },
    hasPercentiles && { label: "p99", value: (each) => each.p99_ns ?? -1, cell: (each) => timeOr(each.p99_ns) },
    { label: "max", value: (each) => each.max_ns, cell: (each) => time(each.max_ns) },
    { label: "slowest rank", value: (each) => each.slowest_rank_ns ?? -1, cell: (each) => marked(isEstimated(each), timeOr(each.slowest_rank_ns)) },
    {
      label: "rank",
      text: true,
      value: (each) => (each.slowest_rank === undefined ? "" : rankName(each.slowest_run || "", String(each.slowest_rank).padStart(9))),
      cell: (each) => (each.slowest_rank === undefined ? NONE : rankCell(each.slowest_run || "", each.slowest_rank)),
    },
  ]);
  return section("Bricks by phase", note("As recorded, of all ranks and windows together"), table("Bricks by phase", columns, fleet.bricks_by_phase, { wide: true }).element);
}

function phaseSection() {
  if (fleet.phases.length === 0) {
    return "";
  }
  /** @type {Column<FleetPhase>[]} */
  const columns = [
    { label: "phase", text: true, cell: (each) => (each.phase === undefined ? NONE : named(each.phase)) },
    { label: "steps of all ranks", cell: (each) => count(each.steps) },
    { label: "avg", cell: (each) => time(each.total_ns / each.steps) },
    { label: "max", cell: (each) => time(each.max_ns) },
    { label: "tokens", cell: (each) => count(each.tokens) },
    { label: "tokens/s of a rank", cell: (each) => (each.wall_ns ? rate((1e9 * each.tokens) / each.wall_ns) : NONE) },
  ];
  return section("Steps", "", table("Steps", columns, fleet.phases).element);
}

function requestSection() {
  if (fleet.requests.length === 0) {
    return "";
  }
  /** @param {FleetRequests} each */
  const waited = (each) => each.behind_prompts_ns + each.behind_decoding_ns + each.idle_ns;
  /**
   * @param {string} label
   * @param {(each: FleetRequests) => number} part
   * @param {(each: FleetRequests) => number} whole
   * @returns {Column<FleetRequests>}
   */
  const share = (label, part, whole) => ({
    label,
    value: (each) => ratio(part(each), whole(each)),
    cell: (each) => (whole(each) === 0 ? NONE : percent(100 * ratio(part(each), whole(each)))),
  });
  /** @type {Column<FleetRequests>[]} */
  const columns = [
    { label: "rank", text: true, value: (each) => rankName(each.run_id, String(each.rank).padStart(9)), cell: (each) => rankCell(each.run_id, each.rank) },
    { label: "requests", value: (each) => each.finished, cell: (each) => count(each.finished) },
    { label: "wait of one", value: (each) => waited(each) / each.finished, cell: (each) => time(waited(each) / each.finished) },
    share("% of its time", waited, (each) => waited(each) + each.served_ns),
    share("behind prompts %", (each) => each.behind_prompts_ns, waited),
    share("behind decoding %", (each) => each.behind_decoding_ns, waited),
    share("while no step ran %", (each) => each.idle_ns, waited),
  ];
  return section("Requests", note("those that waited longest first"), table("Requests", columns, fleet.requests).element);
}

function runSection() {
  /**
   * @param {"model" | "precision" | "commit_id" | "device"} key
   * @returns {(run: FleetRun) => Content}
   */
  const text = (key) => (each) => {
    const name = each[key];
    return name === undefined ? NONE : named(name);
  };
  /** @type {Column<FleetRun>[]} */
  const columns = [
    { label: "run", text: true, value: (each) => each.run_id, cell: (each) => named(each.run_id) },
    { label: "ranks", value: (each) => each.ranks, cell: (each) => count(each.ranks) },
    { label: "hosts", value: (each) => each.hosts, cell: (each) => count(each.hosts) },
    { label: "windows", value: (each) => each.windows, cell: (each) => count(each.windows) },
    { label: "model", text: true, value: (each) => each.model || "", cell: text("model") },
    { label: "precision", text: true, value: (each) => each.precision || "", cell: text("precision") },
    { label: "commit", text: true, value: (each) => each.commit_id || "", cell: text("commit_id") },
    {
      label: "device",
      text: true,
      value: (each) => each.device || "",
      cell: (each) => (each.devices > 1 ? plural(each.devices, "kind", "kinds") : text("device")(each)),
    },
  ];
  const listed = runs.slice(0, MOST_LISTED);
  return section("Runs", listed.length < runs.length ? note(count(listed.length) + " of " + count(runs.length)) : "", table("Runs", columns, listed).element);
}

show(
  head("Brick fleet", fleet.headline + period(), "fleet", "brick-fleet.json"),
  notices(doubts()),
  findings(),
  figures(),
  whole(),
  ...(stragglers.length > 0 ? [stragglerSection(), shownSection()] : [brickSection()]),
  lossSection(),
  mapSection(),
  spreadSection(),
  shareSection(),
  driftSection(),
  ...(stragglers.length > 0 ? [brickSection()] : [stragglerSection(), shownSection()]),
  brickPhaseSection(),
  phaseSection(),
  requestSection(),
  runSection(),
  problemSection(),
);
