// @ts-check
/* Draws the page of a comparison, whose keys are those of ComparisonReport. page.js precedes it in the same module. */

const comparison = needed("comparison");
/** @type {LineKind[]} */
const WHOLE = ["total", "step", "tokens_per_sec", "common"];
const METHODS = comparison.methods ?? [];

// ---- lines ----

/** @param {LineKind[]} kinds */
function linesOf(...kinds) {
  return comparison.lines.filter((line) => kinds.includes(line.kind));
}

/**
 * Returns the change to which the verdict refers.
 *
 * @param {ComparedLine} line
 */
function tested(line) {
  return line.beside_others || line.change;
}

/** @param {ComparedLine} line */
function isChange(line) {
  return line.verdict === "faster" || line.verdict === "slower";
}

/**
 * @param {ComparedLine} line
 * @param {ComparedSide | undefined} side
 */
function figureOf(line, side) {
  return line.kind === "tokens_per_sec" ? side?.tokens_per_sec : side?.ns;
}

/**
 * @param {ComparedLine} line
 * @param {ComparedSide | undefined} side
 */
function valueCell(line, side) {
  const figure = figureOf(line, side);
  if (figure === undefined) {
    return NONE;
  }
  return line.kind === "tokens_per_sec" ? rate(figure) : time(figure);
}

// ---- words ----

/** @type {Record<Verdict, string>} */
const WORDS = {
  faster: "faster",
  slower: "slower",
  no_difference: "no difference shown",
  too_few_runs: "too few runs",
  not_comparable: "not comparable",
  not_tested: "not tested",
};

/** @param {number} pct */
function signed(pct) {
  const text = FORMATS[1].format(Math.abs(pct));
  return (text === "0.0" ? "" : pct < 0 ? "\u2212" : "+") + text;
}

/** An upper end of an interval above this is shown only as "> +10000", as in ComparisonReport. */
const MOST_SHOWN_PCT = 1000;

/**
 * @param {Change | undefined} change
 * @returns {change is Interval}
 */
function hasInterval(change) {
  return change !== undefined && change.low_pct !== undefined && change.high_pct !== undefined;
}

/** @param {Change | undefined} change */
function intervalOf(change) {
  return !hasInterval(change)
    ? NONE
    : "[" + signed(change.low_pct) + ", " + (change.high_pct <= MOST_SHOWN_PCT ? signed(change.high_pct) : "> " + signed(MOST_SHOWN_PCT)) + "]";
}

/** @param {ComparedLine} line */
function describe(line) {
  const change = tested(line);
  const found = change === undefined ? "" : ", " + signed(change.pct) + " %";
  const within = hasInterval(change) ? ", interval " + intervalOf(change) + " %" : "";
  return WORDS[line.verdict] + found + within;
}

// ---- intervals, on one scale for all lines ----

const WIDTH = 210;
const HEIGHT = 20;
const MARGIN = 9;

/** The scale is linear up to about this and then logarithmic, so that both 1 % and 500 % are visible. */
const KNEE_PCT = Math.max(1, comparison.floor_pct);

/** @param {number} pct */
function bend(pct) {
  return Math.asinh(pct / KNEE_PCT);
}

const REACH = Math.max(
  bend(2.5 * KNEE_PCT),
  ...[...comparison.lines, ...METHODS.flatMap(({ lines }) => lines)]
    .map(tested)
    .flatMap((change) => present([change?.pct, change?.low_pct, change?.high_pct]))
    .map((pct) => Math.abs(bend(Math.min(pct, MOST_SHOWN_PCT)))),
);

/** @param {number} pct */
function place(pct) {
  return WIDTH / 2 + ((WIDTH / 2 - MARGIN) * bend(pct)) / REACH;
}

/**
 * Shapes differ for readers who do not see colours: up is faster, down is slower, hollow is no verdict.
 *
 * @type {Record<Verdict, string>}
 */
const MARKS = {
  faster: "M0 -4.5L4.5 3.5H-4.5Z",
  slower: "M0 4.5L4.5 -3.5H-4.5Z",
  no_difference: "M-3.5 0A3.5 3.5 0 1 0 3.5 0A3.5 3.5 0 1 0 -3.5 0Z",
  too_few_runs: "M0 -4.5L4.5 0L0 4.5L-4.5 0Z",
  not_comparable: "M-4 -4L4 4M-4 4L4 -4",
  not_tested: "M-3.5 0H3.5",
};

/**
 * @param {Verdict} verdict
 * @param {number} x
 * @param {number} y
 */
function mark(verdict, x, y) {
  return svg("path", { class: "mark " + verdict, d: MARKS[verdict], transform: `translate(${x.toFixed(1)} ${y})` });
}

/**
 * @param {number} pct
 * @param {number} from
 * @param {number} to
 */
function tickLine(pct, from, to) {
  return svg("line", { class: "axis", x1: place(pct).toFixed(1), x2: place(pct).toFixed(1), y1: from, y2: to });
}

/** @param {number} height */
function band(height) {
  const x = place(-comparison.floor_pct);
  return svg("rect", { class: "floor", x: x.toFixed(1), y: 0, width: (place(comparison.floor_pct) - x).toFixed(1), height });
}

/** @param {ComparedLine} line */
function drawn(line) {
  const change = tested(line);
  if (change === undefined) {
    return NONE;
  }
  const text = describe(line);
  const middle = HEIGHT / 2;
  const picture = svg(
    "svg",
    { width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": text },
    title(text),
    band(HEIGHT),
    tickLine(0, 0, HEIGHT),
  );
  if (hasInterval(change)) {
    const [low, high] = [place(change.low_pct).toFixed(1), place(change.high_pct).toFixed(1)];
    picture.append(svg("path", { class: "range", d: `M${low} ${middle - 6}v12m0 -6H${high}m0 -6v12` }));
  }
  picture.append(mark(line.verdict, place(change.pct), middle));
  return picture;
}

/** Draws the scale of the intervals: 0 in the middle, and round changes as far apart as their labels require. */
function axis() {
  const picture = svg("svg", { width: WIDTH, height: 16, viewBox: `0 0 ${WIDTH} 16`, "aria-hidden": "true" });
  /** @param {number} pct */
  const label = (pct) => svg("text", { x: place(pct).toFixed(1), y: 11, "text-anchor": "middle" }, signed(pct).replace(/\.0$/, ""));
  picture.append(label(0));
  let last = place(0);
  for (let power = 1; power < 1e9; power *= 10) {
    for (const pct of [1, 2, 5].map((digit) => digit * power)) {
      if (place(pct) - last >= 32 && place(pct) <= WIDTH - MARGIN) {
        picture.append(label(pct));
        // Nothing can become faster by more than 100 %.
        picture.append(pct < 100 ? label(-pct) : "");
        last = place(pct);
      }
    }
  }
  return picture;
}

// ---- the sections, in the order in which an engineer looks ----

function figuresOfTheWhole() {
  const lines = linesOf(...WHOLE);
  if (lines.length === 0) {
    return "";
  }
  return html(
    "dl",
    { class: "figures" },
    lines.map((line) => {
      const sides = line.before && line.after ? [valueText(line, line.before) + " to " + valueText(line, line.after) + "; "] : [];
      const unit = html("span", { class: "unit" }, NARROW + "%");
      const value = line.change === undefined ? NONE : [signed(line.change.pct), unit];
      const within = hasInterval(tested(line)) ? ", interval " + intervalOf(tested(line)) + "\u00a0%" : "";
      return figure(named(line.name), value, [...sides, html("span", { class: "verdict" }, symbol(line.verdict), WORDS[line.verdict]), within]);
    }),
  );
}

/**
 * @param {ComparedLine} line
 * @param {ComparedSide} side
 */
function valueText(line, side) {
  const figure = figureOf(line, side);
  if (figure === undefined) {
    return NONE;
  }
  return line.kind === "tokens_per_sec" ? number(figure) : duration(figure);
}

/** @param {Verdict} verdict */
function symbol(verdict) {
  return svg("svg", { width: 14, height: 12, viewBox: "-7 -6 14 12", "aria-hidden": "true" }, mark(verdict, 0, 0));
}

/** @type {["before", "after"]} */
const SIDES = ["before", "after"];

/** Draws the time of a step by category: a bar for each side, both on one scale. */
function sides() {
  const lines = linesOf("category").filter((line) => line.before || line.after);
  if (lines.length === 0) {
    return "";
  }
  const totals = SIDES.map((side) => sum(lines, (line) => line[side]?.ns || 0));
  const longest = Math.max(...totals);
  return bars(
    SIDES.map((side, i) => {
      const parts = lines.flatMap((line) => {
        const ns = line[side]?.ns;
        return ns === undefined ? [] : [{ label: line.name + " " + duration(ns), colour: colour(line.name), pct: 100 * ratio(ns, longest) }];
      });
      const text = side + ", brick time of a step by category: " + parts.map((part) => part.label).join(", ");
      return { label: side, total: duration(totals[i]), text, parts };
    }),
  );
}

/**
 * @param {string} what
 * @param {ComparedLine[]} lines
 * @returns {Column<ComparedLine>[]}
 */
function columnsOf(what, lines) {
  const beside = lines.some((line) => line.beside_others !== undefined);
  /** @param {Change | undefined} change */
  const pct = (change) => (change === undefined ? -Infinity : change.pct);
  return present([
    { label: what, text: true, value: (line) => line.name, cell: (line) => named(line.name) },
    { label: "change %", value: (line) => pct(line.change), cell: (line) => (line.change ? signed(line.change.pct) : NONE) },
    { label: "verdict", text: true, value: (line) => WORDS[line.verdict], cell: verdictCell },
    { label: "interval, %", text: true, below: axis, cell: drawn },
    beside && {
      label: "beside others %",
      value: (line) => pct(line.beside_others),
      cell: (line) => (line.beside_others ? signed(line.beside_others.pct) : NONE),
    },
    { label: "before", value: (line) => figureOf(line, line.before) ?? -1, cell: (line) => valueCell(line, line.before) },
    { label: "after", value: (line) => figureOf(line, line.after) ?? -1, cell: (line) => valueCell(line, line.after) },
    { label: "speed-up", value: (line) => line.speed_up || -1, cell: (line) => (line.speed_up === undefined ? NONE : line.speed_up.toFixed(3)) },
    {
      label: "shown from %",
      value: (line) => (line.smallest_shown_pct === undefined ? -1 : line.smallest_shown_pct),
      cell: (line) => (line.smallest_shown_pct === undefined ? NONE : FORMATS[1].format(line.smallest_shown_pct)),
    },
    { label: "statistic", text: true, value: (line) => line.statistic, cell: (line) => line.statistic },
    { label: "% of time", hint: "Of the brick time before", value: (line) => line.share_pct, cell: (line) => percent(line.share_pct) },
  ]);
}

/** @param {ComparedLine} line */
function verdictCell(line) {
  const words = WORDS[line.verdict];
  return html(
    "span",
    { class: "verdict" },
    symbol(line.verdict),
    isChange(line) ? html("b", {}, words) : words,
    line.note === undefined ? "" : html("span", { class: "quiet" }, ": ", html("bdi", {}, visible(line.note))),
  );
}

/**
 * Returns all facts about one line.
 *
 * @param {ComparedLine} line
 */
function lineDetail(line) {
  /** @type {[string, string][]} */
  const facts = SIDES.flatMap((side) => {
    const value = line[side];
    return value === undefined
      ? [[side, "not in all runs"]]
      : [
          [side, plural(value.runs, "run", "runs") + ", mean " + valueText(line, value)],
          [side + ", spread between runs", value.runs < 2 ? NONE : FORMATS[2].format(value.spread_pct) + "\u00a0%"],
        ];
  });
  /** @param {Change | undefined} change */
  const within = (change) => (change === undefined ? NONE : signed(change.pct) + "\u00a0% " + (hasInterval(change) ? intervalOf(change) : ""));
  facts.push(["change", within(line.change)]);
  if (line.beside_others) {
    facts.push(["beside others", within(line.beside_others)]);
  }
  if (line.probability !== undefined) {
    facts.push(["chance of such a difference, if there is none", number(100 * line.probability) + "\u00a0%"]);
  }
  const long = shortened(line.name) !== visible(line.name);
  return [
    long ? html("p", { class: "full-name" }, html("bdi", {}, visible(line.name))) : "",
    html("dl", {}, facts.map(([what, value]) => html("div", {}, html("dt", {}, what), html("dd", {}, value)))),
  ];
}

/**
 * @param {string} name
 * @param {string} what
 * @param {ComparedLine[]} lines
 */
function linesTable(name, what, lines) {
  const made = table(name, columnsOf(what, lines), lines, { detail: lineDetail, wide: true });
  made.lines.forEach(({ row, tr }) => tr.classList.toggle("quiet", !isChange(row)));
  return made;
}

/**
 * @param {string} name
 * @param {string} what
 * @param {ComparedLine[]} lines
 */
function linesSection(name, what, lines) {
  if (lines.length === 0) {
    return "";
  }
  const made = linesTable(name, what, lines);
  /** @param {ComparedLine} line */
  const words = (line) => visible(line.name) + "\n" + WORDS[line.verdict];
  const beside = lines.length < 8 ? "" : filter(made.lines, "Filter by name or verdict", words, "line", "lines");
  return section(name, beside, made.element);
}

/** Shows the methods of bricks that became slower. */
function methodsSection() {
  return METHODS.length === 0
    ? ""
    : section("Methods of bricks that became slower", "", ...METHODS.map(({ brick, text, lines }) => html(
      "div",
      {},
      html("h3", {}, named(brick)),
      html("p", {}, html("bdi", {}, visible(text)), "."),
      lines.length === 0 ? "" : linesTable("Methods of " + visible(brick), "method, of a sample", lines).element,
    )));
}

function runsSection() {
  const runs = SIDES.flatMap((side) => comparison[side].map((run) => ({ side, ...run })));
  /** @type {Column<typeof runs[number]>[]} */
  const columns = present([
    { label: "run", text: true, cell: (run) => named(run.name) },
    { label: "side", text: true, cell: (run) => run.side },
    runs.some((run) => run.tokens_per_sec !== undefined) && {
      label: "tokens/s, not profiled",
      cell: (run) => (run.tokens_per_sec === undefined ? NONE : number(run.tokens_per_sec)),
    },
    runs.some((run) => run.disturbances.length > 0) && {
      label: "disturbed by",
      text: true,
      cell: (run) => (run.disturbances.length === 0 ? NONE : html("bdi", {}, visible(run.disturbances.join(", ")))),
    },
  ]);
  return section("Runs", "", table("Runs", columns, runs).element);
}

function legendSection() {
  const marks = /** @type {Verdict[]} */ (Object.keys(WORDS)).map((verdict) => html("span", { class: "verdict" }, symbol(verdict), WORDS[verdict]));
  return section(
    "How to read it",
    "",
    html("p", { class: "legend quiet" }, marks),
    html("p", {}, "Intervals are drawn around 0, linearly near it and then logarithmically; the grey band is the floor."),
    comparison.legend.map((text) => html("p", {}, html("bdi", {}, text))),
  );
}

show(
  head("Brick comparison", comparison.answer + " (" + comparison.headline + ")", "comparison", "brick-comparison.json"),
  comparison.next === undefined ? "" : html("p", { class: "next" }, "Next: ", html("bdi", {}, visible(comparison.next)), "."),
  notices(comparison.remarks.map((remark) => html("bdi", {}, visible(remark)))),
  figuresOfTheWhole(),
  sides(),
  linesSection("The whole", "the whole", linesOf(...WHOLE)),
  linesSection("Bricks", "brick, of a sample", linesOf("brick")),
  methodsSection(),
  linesSection("Percentiles of bricks", "percentile of a brick", linesOf("brick_p50", "brick_p90", "brick_p99")),
  linesSection("Categories", "category, of a step", linesOf("category")),
  linesSection("Tiles", "tile", linesOf("tile")),
  runsSection(),
  legendSection(),
);
