// @ts-check
/* The requests on the page of a profile: their latencies and causes, and the latest of them over time. In the module,
   it follows page.js and precedes report.js. */

const causes = held("causes") || [];
const waits = held("waits") || [];
const WAITING = /^(queued|stalled|delivery)/;

/** Time in a queue or in the delivery is pale: the colours are those of work, and of the stalls between tokens. */
const PALE = /^(queued|delivery)/;

/** @param {Cause} cause */
function causeColour(cause) {
  const own = "var(--" + cause.key.replace(/_ns$/, "").replaceAll("_", "-") + ")";
  return PALE.test(cause.key) ? "color-mix(in srgb, " + own + " 40%, var(--paper))" : own;
}

/** @param {Cause} cause */
function causeCell(cause) {
  const shape = WAITING.test(cause.key) ? "swatch thin" : "swatch";
  return html("span", {}, html("i", { class: shape, "--colour": causeColour(cause), "aria-hidden": "true" }), cause.name);
}

/**
 * Returns the rows of a table as objects with its columns as keys, without the values that are not known.
 *
 * @template Row
 * @param {string[]} columns
 * @param {(string | number | null)[][]} rows
 * @returns {Row[]}
 */
function objects(columns, rows) {
  return rows.map((row) => /** @type {Row} */ (Object.fromEntries(row.flatMap((value, i) => (value === null ? [] : [[columns[i], value]])))));
}

/**
 * Returns the requests of a timeline in the order of their arrival, with the work on them.
 *
 * @param {RequestTimeline} written
 * @returns {ServedRequest[]}
 */
function served(written) {
  /** @type {TimelineWork[]} */
  const works = objects(written.work_columns, written.works);
  /** @type {TimelineOwnWork[]} */
  const ownWorks = objects(written.own_work_columns, written.own_works);
  /** @type {RequestOfRun[]} */
  const records = objects(written.request_columns, written.requests);
  /** @type {ServedRequest[]} */
  const all = records.map((record) => ({ record, works: [], ownWorks: [], complete: true, number: 0 }));
  works.forEach((work) => all[work.request].works.push(work));
  ownWorks.forEach((work) => all[work.request].ownWorks.push(work));
  written.incomplete.forEach((index) => {
    all[index].complete = false;
  });
  all.sort((a, b) => a.record.arrived_ns - b.record.arrived_ns);
  all.forEach((each, i) => {
    each.number = i + 1;
  });
  return all;
}

/** @param {RequestOfRun} record */
function endOf(record) {
  return record.arrived_ns + record.duration_ns;
}

// ---- segments: the same that RequestTimeline finds ----

/**
 * Returns what waiting requests wait behind, from each moment at which it changes: 0 prompts, 1 decoding, 2 nothing.
 *
 * @param {TimelineStep[]} steps
 * @returns {Waits}
 */
function waitsOf(steps) {
  const changes = steps.flatMap((step) => [
    { ns: step.start_ns, prompts: step.prompts, decoding: 1 - step.prompts },
    { ns: step.start_ns + step.duration_ns, prompts: -step.prompts, decoding: step.prompts - 1 },
  ]);
  changes.sort((a, b) => a.ns - b.ns);
  const times = new Float64Array(changes.length);
  const kinds = new Uint8Array(changes.length);
  let prompts = 0;
  let decoding = 0;
  changes.forEach((change, i) => {
    prompts += change.prompts;
    decoding += change.decoding;
    times[i] = change.ns;
    kinds[i] = prompts > 0 ? 0 : decoding > 0 ? 1 : 2;
  });
  return { times, kinds };
}

/**
 * Returns the number of changes up to a moment.
 *
 * @param {Float64Array} times
 * @param {number} ns
 */
function changesUpTo(times, ns) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle] <= ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/**
 * Visits the segments of a request in the order of time. A segment has the index of its cause, its start and end, and
 * the step that works on the request, or -1.
 *
 * @param {Served} all
 * @param {ServedRequest} request
 * @param {(cause: number, fromNs: number, toNs: number, step: number) => void} visit
 */
function eachSegment({ steps, waits, at }, { record, works, ownWorks, complete }, visit) {
  if (!complete) {
    return;
  }
  const endNs = endOf(record);
  const lastNs = record.output_tokens === 0 ? Infinity : record.arrived_ns + record.time_to_first_token_ns + record.first_to_last_token_ns;
  let nowNs = record.arrived_ns;
  let isQueued = true;
  let nextOwnWork = 0;

  /**
   * @param {number} toNs
   * @param {boolean} isOver
   */
  function waitUntil(toNs, isOver) {
    if (!isQueued && (isOver || nowNs >= lastNs)) {
      take(at.delivery, toNs, -1);
      return;
    }
    while (nowNs < toNs) {
      while (nextOwnWork < ownWorks.length && ownWorks[nextOwnWork].end_ns <= nowNs) {
        nextOwnWork++;
      }
      const own = ownWorks[nextOwnWork];
      if (own && own.start_ns <= nowNs) {
        take(at.ownWork, Math.min(own.end_ns, toNs), -1);
      } else {
        waitBehindOthers(own ? Math.min(own.start_ns, toNs) : toNs);
      }
    }
  }

  /** @param {number} toNs */
  function waitBehindOthers(toNs) {
    const first = isQueued ? at.queued : at.stalled;
    for (let i = changesUpTo(waits.times, nowNs); nowNs < toNs; i++) {
      const kind = i === 0 ? 2 : waits.kinds[i - 1];
      take(first + kind, i < waits.times.length ? Math.min(waits.times[i], toNs) : toNs, -1);
    }
  }

  /**
   * @param {number} cause
   * @param {number} toNs
   * @param {number} step
   */
  function take(cause, toNs, step) {
    if (toNs > nowNs) {
      visit(cause, nowNs, toNs, step);
      nowNs = toNs;
    }
  }

  for (const work of works) {
    const { lane } = steps[work.first_step];
    for (let index = work.first_step; index <= work.last_step; index++) {
      const step = steps[index];
      if (step.lane === lane) {
        waitUntil(Math.max(work.start_ns, step.start_ns), false);
        take(work.own_prompt ? at.ownPrompt : step.prompts ? at.beside : at.decode, Math.min(work.end_ns, step.start_ns + step.duration_ns), index);
        isQueued = false;
      }
    }
  }
  waitUntil(endNs, record.output_tokens === 0);
}

/**
 * Returns the requests and steps of a timeline, prepared for drawing.
 *
 * @param {RequestTimeline} written
 * @returns {Served}
 */
function servedOf(written) {
  /** @type {TimelineStep[]} */
  const steps = objects(written.step_columns, written.steps);
  const requests = served(written);
  const number = (/** @type {string} */ key) => causes.findIndex((cause) => cause.key === key);
  /** @type {Served} */
  const all = {
    steps,
    requests,
    waits: waitsOf(steps),
    lanes: lanesOfSteps(steps),
    fromNs: Math.min(...requests.map(({ record }) => record.arrived_ns)),
    toNs: Math.max(...requests.map(({ record }) => endOf(record))),
    at: {
      queued: number("queued_behind_prompts_ns"),
      stalled: number("stalled_behind_prompts_ns"),
      delivery: number("delivery_ns"),
      ownWork: number("own_work_ns"),
      ownPrompt: number("own_prompt_ns"),
      decode: number("decode_ns"),
      beside: number("decode_beside_prompts_ns"),
    },
  };
  for (const request of requests) {
    // Segments that contradict the causes of the request are not drawn.
    request.complete &&= agrees(all, request);
  }
  return all;
}

/**
 * Returns whether the segments of a request sum to its times by cause.
 *
 * @param {Served} all
 * @param {ServedRequest} request
 */
function agrees(all, request) {
  const sums = new Float64Array(causes.length);
  eachSegment(all, request, (cause, from, to) => {
    sums[cause] += to - from;
  });
  return causes.every(({ key }, i) => sums[i] === Number(request.record[/** @type {keyof RequestOfRun} */ (key)] || 0));
}

/**
 * Returns the row of each step, so that no two steps of a row overlap. A single engine needs one row.
 *
 * @param {TimelineStep[]} steps
 */
function lanesOfSteps(steps) {
  /** @type {number[]} */
  const ends = [];
  return steps.map((step) => {
    const free = ends.findIndex((end) => end <= step.start_ns);
    const lane = free < 0 ? ends.length : free;
    ends[lane] = step.start_ns + step.duration_ns;
    return lane;
  });
}

// ---- text ----

/** @param {{ id?: string, trace?: string, model?: string }} request */
function idText({ id, trace, model }) {
  return (
    (id === undefined ? "" : ", " + visible(id)) +
    (model === undefined ? "" : ", model " + visible(model)) +
    (trace === undefined ? "" : ", trace " + visible(trace))
  );
}

/**
 * Returns the time of day of an arrival, after its day if this is not the day of the snapshot.
 *
 * @param {string} at
 */
function timeOfArrival(at) {
  const [day, clock] = at.replace("Z", "").split("T");
  return profile.ended_at.startsWith(day) ? clock : day + " " + clock;
}

/** @param {{ arrived_at?: string }} request */
function arrivedText({ arrived_at: at }) {
  return at === undefined ? "" : ", arrived at " + timeOfArrival(at) + " UTC";
}

/** @param {{ arrived_at?: string }} request */
function arrivedCell({ arrived_at: at }) {
  return at === undefined ? NONE : timeOfArrival(at);
}

/** @param {{ id?: string }} request */
function idCell({ id }) {
  return id === undefined ? NONE : named(id);
}

/**
 * Returns the column of the models, if a request names its model.
 *
 * @template {{ model?: string }} R
 * @param {R[]} rows
 * @returns {Column<R>[]}
 */
function modelColumns(rows) {
  return rows.every(({ model }) => model === undefined)
    ? []
    : [{ label: "model", text: true, cell: ({ model }) => (model === undefined ? NONE : named(model)), value: ({ model }) => model ?? "" }];
}

/**
 * Returns the texts by which a request is found.
 *
 * @param {{ id?: string, trace?: string, model?: string }} request
 */
function wordsOf({ id, trace, model }) {
  return present([id, id !== undefined && visible(id), trace, model]).join(" ");
}

/**
 * @param {Served} all
 * @param {ServedRequest} request
 */
function requestText(all, { record, number }) {
  const tokens = record.output_tokens;
  const first = tokens === 0 ? "no token" : "first token after " + duration(record.time_to_first_token_ns);
  const per = tokens < 2 ? "" : ", " + duration(record.first_to_last_token_ns / (tokens - 1)) + " per output token";
  return "Request " + number + " of " + all.requests.length + idText(record) + arrivedText(record) + ": " + first + per + ", " + duration(record.duration_ns) + " in all, prompt of "
    + plural(record.prompt_tokens, "token", "tokens") + (record.cached_tokens > 0 ? " (" + count(record.cached_tokens) + " cached)" : "") + ", "
    + plural(tokens, "token", "tokens") + " of output, " + record.outcome;
}

/** @param {TimelineStep} step */
function timelineStepText(step) {
  const parts = present([
    step.prefilling > 0 && plural(step.prompt_tokens, "token", "tokens") + " of " + plural(step.prefilling, "prompt", "prompts"),
    step.decoding > 0 && plural(step.decoding, "request decodes", "requests decode"),
  ]);
  const phase = step.prompts === 0 ? "decode" : step.decoding > 0 ? "mixed" : "prefill";
  return phase + " step of " + duration(step.duration_ns) + ": " + (parts.length === 0 ? "no recorded request" : parts.join(", "))
    + (step.abandoned ? "; abandoned" : "");
}

/**
 * Returns the times of a request, or of all, by cause or by wait.
 *
 * @param {RequestOfRun | Requests} record
 * @param {Cause[]} by
 */
function splitOf(record, by) {
  return by.map((cause) => ({ cause, ns: Number(/** @type {any} */ (record)[cause.key] || 0) })).filter(({ ns }) => ns > 0);
}

/**
 * Shows the causes of the chosen request.
 *
 * @param {Served} all
 * @param {ServedRequest} request
 */
function requestDetail(all, request) {
  const { record } = request;
  const parts = splitOf(record, causes);
  return [
    html("p", {}, requestText(all, request), request.complete ? "." : ". Its steps are no longer known, so it is not drawn by cause."),
    stacked(
      parts.map(({ cause, ns }) => cause.name + " " + duration(ns)).join(", "),
      parts.map(({ cause, ns }) => ({
        label: cause.name + " " + duration(ns),
        colour: causeColour(cause),
        pct: 100 * ratio(ns, record.duration_ns),
      })),
    ),
    html(
      "ul",
      { class: "causes" },
      [...parts].sort((a, b) => b.ns - a.ns).map(({ cause, ns }) =>
        html("li", {}, causeCell(cause), html("span", {}, duration(ns) + ", " + percent(100 * ratio(ns, record.duration_ns)) + NARROW + "%")),
      ),
    ),
    waitsText(record) === "" ? "" : note(waitsText(record)),
  ];
}

// ---- the picture ----

const ROWS_HIGH = 560;
/** Up to this number, each request has a row; otherwise a row contains several requests, one after the other. */
const MOST_ROWS = 60;
const OVERVIEW_HIGH = 64;
const LANE_HIGH = 28;
const LEAST_STEP_HIGH = 5;
const MOST_STEP_LANES = 6;

/**
 * Adds a box to the path of its colour.
 *
 * @param {Map<string, string>} paths
 * @param {string} colour
 * @param {number} x
 * @param {number} y
 * @param {number} width
 * @param {number} height
 */
function box(paths, colour, x, y, width, height) {
  paths.set(colour, (paths.get(colour) || "") + `M${x.toFixed(1)} ${y.toFixed(1)}h${width.toFixed(1)}v${height.toFixed(1)}h${(-width).toFixed(1)}z`);
}

/**
 * Arranges requests in as few rows as possible, so that no two requests of a row overlap.
 *
 * @param {ServedRequest[]} requests
 * @param {number} gapNs
 */
function packed(requests, gapNs) {
  /** @type {{ endNs: number, row: ServedRequest[] }[]} */
  const open = [];
  for (const request of requests) {
    const { record } = request;
    const free = open.find(({ endNs }) => endNs + gapNs <= record.arrived_ns);
    if (free === undefined) {
      open.push({ endNs: endOf(record), row: [request] });
    } else {
      free.endNs = endOf(record);
      free.row.push(request);
    }
  }
  return open.map(({ row }) => row);
}

/** @param {ServedRequest[]} requests */
function mostAtOnce(requests) {
  const ends = requests.map(({ record }) => endOf(record)).sort((a, b) => a - b);
  let gone = 0;
  return requests.reduce((most, { record }, i) => {
    while (ends[gone] <= record.arrived_ns) {
      gone++;
    }
    return Math.max(most, i + 1 - gone);
  }, 0);
}

/** @param {Map<string, string>} paths */
function drawn(paths) {
  return [...paths].map(([colour, d]) => svg("path", { class: "shape", "--colour": colour, d }));
}

/**
 * Draws the timeline: the number of requests over time, by cause; the requests of a selected part of the time, each in
 * a row; and the steps of this part.
 *
 * @param {RequestTimeline} written
 */
function requestTimeline(written) {
  const all = servedOf(written);
  const { requests, steps } = all;
  const wholeNs = Math.max(1, all.toNs - all.fromNs);
  const slowest = requests.reduce((a, b) => (b.record.time_to_first_token_ns > a.record.time_to_first_token_ns ? b : a));
  const gap = requests.reduce((a, b) => (b.record.longest_gap_ns > a.record.longest_gap_ns ? b : a));
  const most = mostAtOnce(requests);
  const unknown = requests.filter(({ complete }) => !complete).length;
  let chosen = slowest;
  let fromNs = all.fromNs;
  let toNs = all.toNs;
  let width = 0;
  let left = 44;
  /** @type {ServedRequest[][]} */
  let rows = [];
  let rowHigh = 1;
  let stepsTop = 0;

  const overview = svg("svg", { class: "overview", role: "img" });
  const picture = svg("svg", { class: "requests", role: "img" });
  const readout = html("p", { class: "quiet readout" }, NARROW);
  const detail = html("div", { class: "chosen", role: "status" });
  const range = html("span", { class: "quiet" });
  const frame = html(
    "div",
    {
      class: "over-time",
      tabindex: "0",
      role: "region",
      "aria-label": "Requests over time. Up and down choose a request, left and right move in time, plus and minus zoom, 0 shows all.",
      onkeydown: (event) => pressed(/** @type {KeyboardEvent} */ (event)),
    },
    overview,
    picture,
  );

  /** @param {number} ns */
  const x = (ns) => left + ((width - left) * (ns - fromNs)) / (toNs - fromNs);

  /**
   * @param {number} from
   * @param {number} to
   */
  function look(from, to) {
    const span = Math.min(wholeNs, Math.max(to - from, wholeNs / 1e5, 1));
    const start = Math.min(Math.max(from, all.fromNs), all.toNs - span);
    fromNs = start;
    toNs = start + span;
    draw();
  }

  /**
   * Shows the time of a request, and a third of its duration on both sides.
   *
   * @param {ServedRequest} request
   */
  function lookAt(request) {
    const margin = Math.max(1, request.record.duration_ns / 3);
    look(request.record.arrived_ns - margin, endOf(request.record) + margin);
  }

  /** @param {ServedRequest} request */
  function choose(request) {
    chosen = request;
    detail.replaceChildren();
    fill(detail, {}, requestDetail(all, request));
    const { record } = request;
    if (record.arrived_ns >= toNs || endOf(record) <= fromNs) {
      const middle = record.arrived_ns + record.duration_ns / 2;
      look(middle - (toNs - fromNs) / 2, middle + (toNs - fromNs) / 2);
    } else {
      draw();
    }
  }

  /** @param {number} factor */
  function zoom(factor) {
    const { record } = chosen;
    const inside = record.arrived_ns < toNs && endOf(record) > fromNs;
    const middle = inside ? (Math.max(fromNs, record.arrived_ns) + Math.min(toNs, endOf(record))) / 2 : (fromNs + toNs) / 2;
    const share = (middle - fromNs) / (toNs - fromNs);
    const span = Math.min(wholeNs, (toNs - fromNs) * factor);
    look(middle - share * span, middle + (1 - share) * span);
  }

  /** @param {number} share */
  function move(share) {
    const by = share * (toNs - fromNs);
    look(fromNs + by, toNs + by);
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowUp: () => choose(requests[Math.max(0, chosen.number - 2)]),
      ArrowDown: () => choose(requests[Math.min(requests.length - 1, chosen.number)]),
      Home: () => choose(requests[0]),
      End: () => choose(requests[requests.length - 1]),
      ArrowLeft: () => move(-0.25),
      ArrowRight: () => move(0.25),
      "+": () => zoom(0.5),
      "-": () => zoom(2),
      0: () => look(all.fromNs, all.toNs),
      Enter: () => lookAt(chosen),
    };
    const act = keys[event.key];
    if (act !== undefined && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      act();
    }
  }

  /**
   * Draws the cause with the most time in each pixel of a row: work as boxes of full height, waiting as thin lines.
   *
   * @param {Map<string, string>} paths
   * @param {ServedRequest} request
   * @param {number} y
   * @param {number} high
   */
  function drawRow(paths, request, y, high) {
    const { record, complete } = request;
    const scale = (width - left) / (toNs - fromNs);
    if (!complete) {
      const from = Math.max(left, x(record.arrived_ns));
      box(paths, "var(--rule)", from, y, Math.max(1, Math.min(width, x(endOf(record))) - from), high);
      return;
    }
    let pixel = -1;
    let most = 0;
    let best = 0;
    let run = -1;
    let runFrom = 0;
    const times = new Float64Array(causes.length);

    /**
     * @param {number} cause
     * @param {number} from
     * @param {number} to
     */
    function put(cause, from, to) {
      if (cause !== run) {
        end(from);
        run = cause;
        runFrom = from;
      }
      pixelEnd = to;
    }

    let pixelEnd = 0;

    /** @param {number} at */
    function end(at) {
      if (run >= 0 && at > runFrom) {
        const thin = WAITING.test(causes[run].key) && high >= 4;
        const part = thin ? Math.max(2, Math.round(high * 0.4)) : high;
        box(paths, causeColour(causes[run]), left + runFrom, y + (high - part) / 2, at - runFrom, part);
      }
    }

    function flush() {
      if (pixel >= 0 && most > 0) {
        put(best, pixel, pixel + 1);
      }
      times.fill(0);
      most = 0;
    }

    eachSegment(all, request, (cause, from, to) => {
      if (to <= fromNs || from >= toNs) {
        return;
      }
      const start = Math.max(0, (from - fromNs) * scale);
      const stop = Math.min(width - left, (to - fromNs) * scale);
      for (let p = Math.floor(start); p < stop; ) {
        if (p !== pixel) {
          flush();
          pixel = p;
        }
        // A segment that spans several pixels is one box. Only its ends share a pixel with other segments.
        const whole = Math.floor(stop) - p;
        if (whole > 1 && start <= p) {
          put(cause, p, p + whole);
          pixel = -1;
          p += whole;
          continue;
        }
        times[cause] += Math.min(stop, p + 1) - Math.max(start, p);
        if (times[cause] > most) {
          most = times[cause];
          best = cause;
        }
        p++;
      }
    });
    flush();
    end(pixelEnd);
  }

  function draw() {
    if (width === 0) {
      return;
    }
    left = width < 500 ? 30 : 44;
    const seen = requests.filter(({ record }) => record.arrived_ns < toNs && endOf(record) > fromNs);
    rows = seen.length <= MOST_ROWS ? seen.map((request) => [request]) : packed(seen, (1.5 * (toNs - fromNs)) / Math.max(1, width - left));
    rowHigh = Math.max(1, Math.min(16, Math.floor(ROWS_HIGH / Math.max(1, rows.length))));
    const rowGap = rowHigh >= 8 ? 3 : rowHigh >= 4 ? 1 : 0;
    const rowsHigh = rowHigh * rows.length;
    const lanes = Math.min(MOST_STEP_LANES, 1 + Math.max(-1, ...all.lanes));
    stepsTop = rowsHigh + 22;
    const bottom = stepsTop + lanes * (LANE_HIGH + 4);
    const height = bottom + 20;
    picture.replaceChildren();
    fill(picture, {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "aria-label": plural(seen.length, "request", "requests") + " over " + duration(toNs - fromNs) + ", coloured by cause, and the steps below.",
    }, []);
    const everyNs = roundUp((toNs - fromNs) / Math.max(2, Math.floor(width / 80)));
    for (let ns = Math.ceil((fromNs - all.fromNs) / everyNs) * everyNs; ns <= toNs - all.fromNs; ns += everyNs) {
      const at = x(all.fromNs + ns);
      picture.append(svg("line", { class: "axis", x1: at.toFixed(1), x2: at.toFixed(1), y1: 0, y2: bottom }));
      picture.append(svg("text", { x: Math.min(at, width - 14).toFixed(1), y: bottom + 15, "text-anchor": at < left + 14 ? "start" : "middle" }, ns === 0 ? "0" : step(ns)));
    }
    /** @type {Map<string, string>} */
    const paths = new Map();
    rows.forEach((row, i) => row.forEach((request) => drawRow(paths, request, i * rowHigh, rowHigh - rowGap)));
    picture.append(...drawn(paths));
    drawMarks(rowGap);
    drawSteps(lanes);
    drawOverview();
    range.textContent = plural(seen.length, "request", "requests") + " in " + duration(toNs - fromNs)
      + (toNs - fromNs < wholeNs ? ", from " + (fromNs === all.fromNs ? "the beginning" : duration(fromNs - all.fromNs) + " on") : "")
      + (rows.length < seen.length ? "; a row holds several requests" : "");
  }

  /**
   * Draws the numbers of the requests, the moments of their first tokens, and the frame around the chosen request.
   *
   * @param {number} rowGap
   */
  function drawMarks(rowGap) {
    const every = Math.max(1, Math.ceil(13 / rowHigh));
    const chosenRow = rows.findIndex((row) => row.includes(chosen));
    rows.forEach((row, i) => row.forEach((request) => {
      const { record, number } = request;
      const y = i * rowHigh;
      const isChosen = request === chosen;
      const isNear = chosenRow >= 0 && Math.abs(i - chosenRow) * rowHigh < 13;
      if (isChosen || (row.length === 1 && i % every === 0 && !isNear)) {
        picture.append(svg("text", { class: isChosen ? "strong" : false, x: left - 6, y: y + rowHigh / 2 + 4, "text-anchor": "end" }, String(number)));
      }
      const tokenNs = record.arrived_ns + record.time_to_first_token_ns;
      if (rowHigh >= 8 && rows.length <= MOST_ROWS && row.length === 1 && record.output_tokens > 0 && tokenNs >= fromNs && tokenNs <= toNs) {
        picture.append(svg("line", { class: "p50", x1: x(tokenNs).toFixed(1), x2: x(tokenNs).toFixed(1), y1: y - 1, y2: y + rowHigh - rowGap + 1 }));
      }
      if (isChosen) {
        const from = Math.max(left, x(record.arrived_ns));
        const to = Math.min(width, x(endOf(record)));
        picture.append(svg("rect", { class: "chosen-row", x: (from - 1.5).toFixed(1), y: y - 1.5, width: (Math.max(1, to - from) + 3).toFixed(1), height: Math.max(1, rowHigh - rowGap) + 3 }));
      }
    }));
  }

  /** @param {number} lanes */
  function drawSteps(lanes) {
    /** @type {Map<string, string>} */
    const paths = new Map();
    const inside = steps.map((step, i) => ({ step, lane: all.lanes[i] })).filter(({ step, lane }) => lane < lanes && step.start_ns < toNs && step.start_ns + step.duration_ns > fromNs);
    const batch = inside.reduce((most, { step }) => Math.max(most, step.prefilling + step.decoding), 1);
    for (let lane = 0; lane < lanes; lane++) {
      const bottom = stepsTop + (lane + 1) * (LANE_HIGH + 4) - 4;
      let pixel = -1;
      let high = 0;
      /** @type {TimelineStep | undefined} */
      let longest;
      const flush = () => {
        if (longest !== undefined) {
          box(paths, stepColour(longest), pixel, bottom - high, 1, high);
        }
        longest = undefined;
        high = 0;
      };
      for (const { step } of inside.filter((each) => each.lane === lane)) {
        const from = Math.max(left, x(step.start_ns));
        const to = Math.min(width, x(step.start_ns + step.duration_ns));
        const tall = LEAST_STEP_HIGH + ((LANE_HIGH - LEAST_STEP_HIGH) * (step.prefilling + step.decoding)) / batch;
        if (to - from >= 1.5) {
          flush();
          box(paths, stepColour(step), from, bottom - tall, to - from - (to - from > 4 ? 0.6 : 0), tall);
        } else {
          // If several steps share a pixel, it has the colour of the longest one.
          if (Math.floor(from) !== pixel) {
            flush();
            pixel = Math.floor(from);
          }
          high = Math.max(high, tall);
          longest = longest === undefined || step.duration_ns > longest.duration_ns ? step : longest;
        }
      }
      flush();
      picture.append(svg("line", { class: "axis", x1: left, x2: width, y1: bottom, y2: bottom }));
    }
    picture.append(...drawn(paths));
    picture.append(svg("text", { x: left, y: stepsTop - 6 }, "Steps, as high as their batch; at most " + plural(batch, "request", "requests")));
  }

  /** @param {TimelineStep} step */
  function stepColour(step) {
    const number = step.abandoned ? -1 : step.prompts === 0 ? all.at.decode : step.decoding > 0 ? all.at.beside : all.at.ownPrompt;
    return number < 0 ? "var(--rule)" : causeColour(causes[number]);
  }

  /** The causes in the overview, from bottom to top: first work, then waiting. */
  const inOverview = [
    ...causes.keys()].sort((a, b) => Number(WAITING.test(causes[a].key)) - Number(WAITING.test(causes[b].key)));
  /** @type {Float64Array[]} */
  let sums = [];

  function sumOverview() {
    const columns = Math.max(1, Math.floor((width - left) / 2));
    const columnNs = wholeNs / columns;
    sums = causes.map(() => new Float64Array(columns));
    for (const request of requests) {
      eachSegment(all, request, (cause, from, to) => {
        const last = Math.min(columns - 1, Math.floor((to - all.fromNs) / columnNs));
        for (let i = Math.min(columns - 1, Math.floor((from - all.fromNs) / columnNs)); i <= last; i++) {
          const start = all.fromNs + i * columnNs;
          sums[cause][i] += Math.max(0, Math.min(to, start + columnNs) - Math.max(from, start)) / columnNs;
        }
      });
    }
  }

  function drawOverview() {
    const columns = sums[0].length;
    const top = 16;
    const bottom = top + OVERVIEW_HIGH;
    overview.replaceChildren();
    fill(overview, {
      width,
      height: bottom + 8,
      viewBox: `0 0 ${width} ${bottom + 8}`,
      "aria-label": "The number of requests over time, by cause: at most " + count(most) + ".",
    }, []);
    const wide = (width - left) / columns;
    const below = new Float64Array(columns);
    for (const cause of inOverview) {
      let path = "";
      for (let i = 0; i < columns; i++) {
        const value = sums[cause][i];
        if (value > 0) {
          const y = bottom - (OVERVIEW_HIGH * (below[i] + value)) / most;
          path += `M${(left + i * wide).toFixed(1)} ${y.toFixed(2)}h${wide.toFixed(2)}v${((OVERVIEW_HIGH * value) / most).toFixed(2)}h${(-wide).toFixed(2)}z`;
          below[i] += value;
        }
      }
      if (path !== "") {
        overview.append(svg("path", { class: "shape", "--colour": causeColour(causes[cause]), d: path }));
      }
    }
    overview.append(svg("line", { class: "axis", x1: left, x2: width, y1: bottom, y2: bottom }));
    overview.append(svg("text", { x: left, y: 10 }, "Requests over time, at most " + count(most) + " at once"));
    if (toNs - fromNs < wholeNs) {
      const at = (/** @type {number} */ ns) => left + ((width - left) * (ns - all.fromNs)) / wholeNs;
      overview.append(svg("rect", { class: "outside", x: left, y: top, width: Math.max(0, at(fromNs) - left).toFixed(1), height: OVERVIEW_HIGH }));
      overview.append(svg("rect", { class: "outside", x: at(toNs).toFixed(1), y: top, width: Math.max(0, width - at(toNs)).toFixed(1), height: OVERVIEW_HIGH }));
      overview.append(svg("rect", { class: "window", x: at(fromNs).toFixed(1), y: top - 1, width: Math.max(2, at(toNs) - at(fromNs)).toFixed(1), height: OVERVIEW_HIGH + 2 }));
    }
  }

  /** @param {PointerEvent} event */
  function lookFrom(event) {
    const at = event.clientX - overview.getBoundingClientRect().left - left;
    const middle = all.fromNs + (wholeNs * at) / Math.max(1, width - left);
    const half = (toNs - fromNs) / 2;
    look(middle - half, middle + half);
  }

  overview.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    overview.setPointerCapture(event.pointerId);
    lookFrom(event);
  });
  overview.addEventListener("pointermove", (event) => {
    if (event.buttons === 1) {
      lookFrom(event);
    }
  });
  picture.addEventListener("pointermove", (event) => {
    const { ns, request, step } = pointed(event);
    readout.textContent = NARROW;
    if (request !== undefined) {
      readout.textContent = requestText(all, request);
      eachSegment(all, request, (cause, from, to) => {
        if (from <= ns && ns < to) {
          readout.textContent = "Request " + request.number + ": " + causes[cause].name + " for " + duration(to - from) + ", from "
            + duration(from - request.record.arrived_ns) + " after its arrival on";
        }
      });
    } else if (step !== undefined) {
      readout.textContent = capital(timelineStepText(step));
    }
  });
  picture.addEventListener("click", (event) => {
    const { request } = pointed(event);
    if (request !== undefined) {
      choose(request);
    }
  });

  /**
   * Returns the request or step at a position in the picture.
   *
   * @param {MouseEvent} event
   */
  function pointed(event) {
    const edges = picture.getBoundingClientRect();
    const y = event.clientY - edges.top;
    const ns = fromNs + ((toNs - fromNs) * (event.clientX - edges.left - left)) / Math.max(1, width - left);
    const lane = Math.floor((y - stepsTop) / (LANE_HIGH + 4));
    const step = y < stepsTop ? undefined : steps.find((each, i) => all.lanes[i] === lane && each.start_ns <= ns && ns < each.start_ns + each.duration_ns);
    const near = (2 * (toNs - fromNs)) / Math.max(1, width - left);
    const row = rows[Math.floor(y / rowHigh)] || [];
    const request = row.length === 1 ? row[0] : row.find(({ record }) => record.arrived_ns - near <= ns && ns <= endOf(record) + near);
    return { ns, request, step };
  }

  /** Returns a field that chooses the first request with the typed text in its id; the key Enter chooses the next one. */
  function finder() {
    const label = "Find a request by its id";
    const field = html("input", {
      type: "search",
      placeholder: label,
      "aria-label": label,
      oninput: () => find(0),
      onkeydown: (event) => {
        if (/** @type {KeyboardEvent} */ (event).key === "Enter") {
          find(chosen.number);
        }
      },
    });
    const found = html("span", { class: "quiet", role: "status" });

    /** @param {number} from */
    function find(from) {
      const text = field.value.trim();
      const hits = text === "" ? [] : requests.filter(({ record }) => wordsOf(record).toLowerCase().includes(text.toLowerCase()));
      found.textContent = text === "" ? "" : plural(hits.length, "request", "requests");
      const hit = hits.find(({ number }) => number > from) ?? hits[0];
      if (hit !== undefined) {
        choose(hit);
        lookAt(hit);
      }
    }

    return html("span", { class: "filter" }, found, " ", field);
  }

  /**
   * @param {string} label
   * @param {() => void} act
   * @param {string} [says]
   */
  const button = (label, act, says) => html("button", { type: "button", class: "action", onclick: act, "aria-label": says }, label);
  const controls = html(
    "div",
    { class: "controls" },
    button("Slowest first token", () => { choose(slowest); lookAt(slowest); }),
    gap.record.longest_gap_ns === 0 ? "" : button("Longest gap", () => { choose(gap); lookAt(gap); }),
    button("Whole time", () => look(all.fromNs, all.toNs)),
    button("\u2212", () => zoom(2), "Zoom out"),
    button("+", () => zoom(0.5), "Zoom in"),
    button("\u2039", () => choose(requests[Math.max(0, chosen.number - 2)]), "Previous request"),
    button("\u203a", () => choose(requests[Math.min(requests.length - 1, chosen.number)]), "Next request"),
    requests.some(({ record }) => wordsOf(record) !== "") ? finder() : "",
    range,
  );
  const legend = html("p", { class: "quiet legend" }, causes.filter(({ key }) => requests.some(({ record }) => Number(record[/** @type {keyof RequestOfRun} */ (key)] || 0) > 0)).map(causeCell));

  new ResizeObserver(() => {
    const now = Math.floor(frame.clientWidth);
    if (now > 0 && now !== width) {
      const isFirst = width === 0;
      width = now;
      sumOverview();
      if (isFirst) {
        // If there are many requests, show those around the slowest one.
        if (requests.length > MOST_ROWS) {
          lookAt(slowest);
        }
        choose(slowest);
      }
      draw();
    }
  }).observe(frame);

  const finished = profile.requests === undefined ? requests.length : sum(["completed", "length", "cancelled", "failed"], (outcome) => Number(profile.requests?.[/** @type {keyof Requests} */ (outcome)] || 0));
  const some = requests.length < finished ? "the last " + count(requests.length) + " of " + count(finished) + " that finished" : plural(requests.length, "request", "requests");
  return html(
    "div",
    {},
    html("h3", {}, "Requests over time", html("span", { class: "quiet" }, ", " + some + ", in the order of arrival; high: work on the request, low: waiting"
      + (unknown > 0 ? "; the steps of " + count(unknown) + " are no longer known" : ""))),
    legend,
    controls,
    frame,
    readout,
    detail,
  );
}

// ---- the section ----

/** @type {[label: string, key: "time_to_first_token" | "queue_time" | "inter_token" | "time_per_output_token" | "duration"][]} */
const LATENCIES = [
  ["time to first token", "time_to_first_token"],
  ["queue time", "queue_time"],
  ["inter-token latency", "inter_token"],
  ["time per output token", "time_per_output_token"],
  ["duration", "duration"],
];

/** @param {Requests} requests */
function latencyTable(requests) {
  const rows = LATENCIES.flatMap(([label, key]) => {
    const latency = requests[key];
    return latency === undefined ? [] : [{ label, latency }];
  });
  /** @type {Column<{ label: string, latency: Latency }>[]} */
  const columns = [
    { label: "latency", text: true, cell: ({ label }) => label },
    { label: "p50", cell: ({ latency }) => time(1e3 * latency.p50_us) },
    { label: "p90", cell: ({ latency }) => time(1e3 * latency.p90_us) },
    { label: "p99", cell: ({ latency }) => time(1e3 * latency.p99_us) },
    { label: "of", cell: ({ latency }) => count(valuesOf(latency)) },
  ];
  return table("Latencies of requests", columns, rows).element;
}

/** @param {Requests} requests */
function causeTable(requests) {
  const rows = splitOf(requests, causes);
  const all = sum(rows, ({ ns }) => ns);
  const largest = Math.max(...rows.map(({ ns }) => ns));
  /** @type {Column<{ cause: Cause, ns: number }>[]} */
  const columns = [
    { label: "cause", text: true, cell: ({ cause }) => causeCell(cause), total: "all causes" },
    { label: "time", cell: ({ ns }) => time(ns), value: ({ ns }) => ns, total: time(all) },
    {
      label: "% of the time of requests",
      text: true,
      cell: ({ cause, ns }) =>
        html(
          "span",
          { class: "share", "--colour": causeColour(cause) },
          html("i", { "aria-hidden": "true", "--part": 100 * ratio(ns, largest) + "%" }),
          html("span", {}, percent(100 * ratio(ns, all))),
        ),
      value: ({ ns }) => ns,
    },
  ];
  return rows.length === 0 ? "" : table("Causes of the time of requests", columns, rows).element;
}

/** @param {Requests} requests */
function splitTable(requests) {
  const rows = splitOf(requests, waits);
  const all = sum(rows, ({ ns }) => ns);
  /** @type {Column<{ cause: Cause, ns: number }>[]} */
  const columns = [
    { label: "wait, while queued or stalled", text: true, cell: ({ cause: wait }) => wait.name, total: "all waits" },
    { label: "time", cell: ({ ns }) => time(ns), value: ({ ns }) => ns, total: time(all) },
    { label: "%", cell: ({ ns }) => percent(100 * ratio(ns, all)), value: ({ ns }) => ns },
  ];
  return rows.length === 0 || requests.wait_sources === undefined ? "" : table("Waits of queued and stalled requests", columns, rows).element;
}

/**
 * Returns the waits of a request that are known, and the lock that blocked it.
 *
 * @param {RequestOfRun} record
 */
function waitsText(record) {
  const known = splitOf(record, waits)
    .filter(({ cause: wait }) => wait.key !== "wait_unknown_ns")
    .map(({ cause: wait, ns }) => duration(ns) + " " + wait.name);
  return known.length === 0 ? "" : "While it was queued or stalled: " + known.join(", ") + (record.lock === undefined ? "" : " (" + record.lock + ")") + ".";
}

/**
 * Lists the finished requests with the longest times to first token and the longest gaps, each once.
 *
 * @param {Requests} requests
 */
function slowestTable(requests) {
  const all = [...requests.slowest_first_tokens, ...requests.longest_gaps];
  const rows = [...new Map(all.map((request) => [JSON.stringify(request), request])).values()];
  /** @param {RequestOfRun} request */
  const perTokenNs = ({ output_tokens: tokens, first_to_last_token_ns: ns }) => (tokens < 2 ? -1 : ns / (tokens - 1));
  /** @param {RequestOfRun} request */
  const largest = (request) => [...splitOf(request, causes)].sort((a, b) => b.ns - a.ns)[0];
  const models = modelColumns(rows);
  /** @type {Column<RequestOfRun>[]} */
  const columns = [
    { label: "slowest requests", text: true, cell: idCell, value: ({ id }) => id ?? "" },
    ...models,
    { label: "arrived, UTC", text: true, cell: arrivedCell, value: ({ arrived_at: at }) => at ?? "" },
    {
      label: "first token",
      cell: ({ output_tokens: tokens, time_to_first_token_ns: ns }) => (tokens === 0 ? NONE : time(ns)),
      value: ({ time_to_first_token_ns: ns }) => ns,
    },
    { label: "longest gap", cell: ({ longest_gap_ns: ns }) => (ns === 0 ? NONE : time(ns)), value: ({ longest_gap_ns: ns }) => ns },
    { label: "per token", cell: (request) => (perTokenNs(request) < 0 ? NONE : time(perTokenNs(request))), value: perTokenNs },
    { label: "duration", cell: ({ duration_ns: ns }) => time(ns), value: ({ duration_ns: ns }) => ns },
    { label: "output tokens", cell: ({ output_tokens: tokens }) => count(tokens), value: ({ output_tokens: tokens }) => tokens },
    { label: "outcome", text: true, cell: ({ outcome }) => outcome, value: ({ outcome }) => outcome },
    {
      label: "largest cause",
      text: true,
      cell: (request) => {
        const cause = largest(request);
        return cause === undefined ? NONE : html("span", {}, causeCell(cause.cause), " " + duration(cause.ns));
      },
    },
  ];
  const { element, lines } = table("Slowest requests", columns, rows, { sorted: 2 + models.length });
  const isNamed = rows.some((request) => wordsOf(request) !== "");
  return rows.length === 0
    ? ""
    : html("div", {}, isNamed ? filter(lines, "Filter requests by id", wordsOf, "request", "requests") : "", element);
}

/** @param {Requests} requests */
function liveTable({ oldest_live: rows, waiting, running }) {
  /** @type {Column<LiveRequest>[]} */
  const columns = [
    { label: "live requests", text: true, cell: idCell, value: ({ id }) => id ?? "" },
    ...modelColumns(rows),
    { label: "arrived, UTC", text: true, cell: arrivedCell, value: ({ arrived_at: at }) => at ?? "" },
    { label: "since its arrival", cell: ({ age_ns: ns }) => time(ns), value: ({ age_ns: ns }) => ns },
    { label: "state", text: true, cell: (live) => (live.running > 0 ? "running" : "waiting"), value: (live) => live.running },
    { label: "prompt tokens", cell: ({ prompt_tokens: tokens }) => count(tokens), value: ({ prompt_tokens: tokens }) => tokens },
    { label: "output tokens", cell: ({ output_tokens: tokens }) => count(tokens), value: ({ output_tokens: tokens }) => tokens },
  ];
  const live = waiting + running;
  return rows.length === 0
    ? ""
    : html(
        "div",
        {},
        live > rows.length ? note("The oldest " + count(rows.length) + " of " + count(live) + " live requests:") : "",
        table("Live requests", columns, rows).element,
      );
}

function requestsSection() {
  const { requests, request_timeline: written } = profile;
  if (requests === undefined) {
    return "";
  }
  const excess = held("request-excess");
  const from = held("requests-from");
  const waited = held("waits-text");
  return section(
    "Requests",
    excess === undefined ? "" : note(excess),
    from === undefined ? "" : note(from),
    html("div", { class: "beside" }, latencyTable(requests), causeTable(requests), splitTable(requests)),
    waited === undefined || waited === "" ? "" : note(waited),
    liveTable(requests),
    slowestTable(requests),
    written === undefined ? "" : requestTimeline(written),
  );
}
