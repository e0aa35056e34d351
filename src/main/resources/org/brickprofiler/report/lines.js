// @ts-check
/*
 * Draws the lines in which bricks spend their time, from samples of stacks. page.js precedes it in the same module, and
 * report.js follows.
 */

const CELL_HIGH = 18;
const CELLS_WIDE = 1150;
/** With fewer samples, shares say nothing. */
const FEWEST_SAMPLES = 20;
/** The modes of native code, which has no lines. */
const NATIVE = ["Native", "C++", "Kernel"];
/** The colours of modes that cost time by themselves; other frames have that of their brick. */
const MODES = new Map([["Interpreted", "var(--heat)"], ...NATIVE.map((mode) => /** @type {const} */ ([mode, "var(--other)"]))]);
const OTHER_PATHS = "(other paths)";
const sources = held("sources");
/** The address under which the package of a class is, by the class. */
const rootOf = new Map((sources?.classes ?? []).map((name, i) => [name, sources?.roots[sources.root[i]]]));

/** Shows the lines of the brick that a reader chooses, or of all bricks. */
function linesSection() {
  const lines = profile.lines;
  if (lines === undefined) {
    return "";
  }
  const views = viewsOf(lines);
  const place = html("div", {});
  /** @type {HTMLSelectElement} */
  const choice = html(
    "select",
    { "aria-label": "Brick of which the lines are shown", onchange: () => showView(Number(choice.value)) },
    views.map(({ label }, i) => html("option", { value: String(i) }, label)),
  );
  /** @param {number} number */
  const showView = (number) => place.replaceChildren(html("div", {}, views[number].draw()));
  if (views.length > 0) {
    showView(0);
  }
  return section(
    "Lines",
    "",
    html("p", { class: "quiet" }, visible(lines.text + (sources === undefined ? "" : " " + sources.text))),
    views.length === 0 ? "" : html("p", { class: "above" }, html("label", {}, "Lines of ", choice)),
    place,
    amountTable(lines),
  );
}

/**
 * Returns the memory that bricks allocated and the time for which they waited; empty if the recording states neither.
 *
 * @param {LineProfile} lines
 */
function amountTable(lines) {
  const rows = lines.bricks.filter(({ allocated, waited }) => allocated !== undefined || waited !== undefined);
  /** @param {BrickAmounts | undefined} amounts */
  const mostly = (amounts) => visible(amounts?.places[0] ?? "");
  /** @type {Column<BrickLines>[]} */
  const columns = present([
    { label: "brick", text: true, value: linesName, cell: (row) => html("bdi", {}, visible(linesName(row))) },
    rows.some(({ allocated }) => allocated) && { label: "allocated, estimate", value: (row) => row.allocated?.sum ?? 0, cell: (row) => (row.allocated ? memory(row.allocated.sum) : "") },
    rows.some(({ allocated }) => allocated) && { label: "by samples", value: (row) => row.allocated?.events ?? 0, cell: (row) => (row.allocated ? count(row.allocated.events) : "") },
    rows.some(({ allocated }) => allocated) && { label: "mostly in", text: true, cell: (row) => mostly(row.allocated) },
    rows.some(({ waited }) => waited) && { label: "waited", value: (row) => row.waited?.sum ?? 0, cell: (row) => (row.waited ? duration(row.waited.sum) : "") },
    rows.some(({ waited }) => waited) && { label: "waits", value: (row) => row.waited?.events ?? 0, cell: (row) => (row.waited ? count(row.waited.events) : "") },
    rows.some(({ waited }) => waited) && { label: "mostly for", text: true, cell: (row) => mostly(row.waited) },
  ]);
  return rows.length === 0
    ? ""
    : html("div", {}, html("h3", {}, "Memory and waits"), table("Memory and waits of bricks", columns, rows).element);
}

/** @param {number} bytes */
function memory(bytes) {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return (bytes / 10 ** (3 * unit)).toFixed(unit === 0 ? 0 : 1) + "\u00a0" + units[unit];
}

/**
 * Returns what a reader can choose: all bricks by their time, then each brick by its samples.
 *
 * @param {LineProfile} lines
 * @returns {LineView[]}
 */
function viewsOf(lines) {
  const sampled = lines.bricks.filter(({ samples }) => samples > 0);
  const single = sampled.flatMap((brick) => {
    const name = linesName(brick);
    const { java, natives } = brick;
    return present([
      java && { label: name + ": " + plural(sum(java.self, Number), "sample", "samples"), draw: () => treeView(lines, brick, java) },
      natives && { label: name + ", native code: " + plural(sum(natives.self, Number), "sample", "samples"), draw: () => treeView(lines, brick, natives) },
    ]);
  });
  const whole = lines.by_frames === undefined
    ? { label: "all bricks, by their time", draw: () => wholeView(lines) }
    : { label: "all bricks, by their samples", draw: () => sampledView(lines) };
  return sampled.length === 0 ? [] : [whole, ...single];
}

/** @param {BrickLines} brick */
function linesName({ brick, phase }) {
  return shortened(brick) + (phase === undefined ? "" : " in " + phase.toLowerCase() + " steps");
}

/** @param {CallTree} tree */
function hasShares(tree) {
  return sum(tree.self, Number) >= FEWEST_SAMPLES;
}

/**
 * Returns the picture and the tables of a brick.
 *
 * @param {LineProfile} lines
 * @param {BrickLines} brick
 * @param {CallTree} tree
 * @returns {Leaf[]}
 */
function treeView(lines, brick, tree) {
  if (!hasShares(tree)) {
    return [note("Too few samples for shares. " + visible(brick.text === undefined ? "" : brick.text + "."))];
  }
  const root = cellOf(linesName(brick), undefined, brickColour(brick.brick));
  grow(root, lines, tree);
  return present([
    brick.text !== undefined && note(visible(brick.text) + "."),
    icicle(root, "samples", (cell) => plural(cell.weight, "sample", "samples")),
    placeTable("Hottest lines", "line", tree.lines, (frame) => ({
      name: lines.methods[lines.frame_method[frame]],
      line: lines.frame_line[frame],
      mode: lines.modes[lines.frame_mode[frame]],
    })),
    placeTable("Hottest methods", "method", tree.methods, (method) => ({ name: lines.methods[method], line: -1, mode: "" })),
    html("h3", {}, "Hottest call paths"),
    html("ul", {}, tree.paths.place.map((path, i) => html(
      "li",
      {},
      percent(100 * tree.paths.share[i]) + "\u00a0%: " + visible(lines.paths[path].map((method) => lines.methods[method]).join(" \u2192 ")),
    ))),
  ]);
}

/**
 * Returns the line of a place, or that it is unknown: methods in native code have none.
 *
 * @param {{ line: number, mode: string }} place
 */
function lineText({ line, mode }) {
  return line > 0 ? " line " + line : ["", ...NATIVE].includes(mode) ? "" : ", line unknown";
}

/**
 * Returns content as a link to a line of a method, if its source is known.
 *
 * @param {string} method
 * @param {number} line
 * @param {string | HTMLElement} content
 */
function linked(method, line, content) {
  const type = method.slice(0, Math.max(0, method.lastIndexOf("."))).split("$")[0];
  const root = rootOf.get(type);
  return root === undefined || line <= 0
    ? content
    : html("a", { href: root + type.split(".").map(encodeURIComponent).join("/") + ".java#L" + line, target: "_blank", rel: "noreferrer" }, content);
}

/**
 * Returns a table of places with their shares.
 *
 * @param {string} label
 * @param {string} what
 * @param {LineShares} shares
 * @param {(place: number) => { name: string, line: number, mode: string }} placeOf
 */
function placeTable(label, what, shares, placeOf) {
  const rows = shares.place.map((place, i) => ({
    ...placeOf(place),
    samples: shares.samples[i],
    share: shares.share[i],
    low: shares.low[i],
    high: shares.high[i],
  }));
  const most = Math.max(...rows.map((row) => row.share));
  /** @type {Column<typeof rows[number]>[]} */
  const columns = present([
    { label: what, text: true, value: (row) => row.name, cell: (row) => linked(row.name, row.line, html("bdi", {}, visible(row.name) + lineText(row))) },
    rows.some(({ mode }) => mode !== "") && { label: "mostly", text: true, cell: (row) => visible(row.mode) },
    { label: "samples", value: (row) => row.samples, cell: (row) => count(row.samples) },
    { label: "% of samples", value: (row) => row.share, cell: (row) => share(row.share, 1, most, "Other") },
    { label: "95 % interval", cell: (row) => percent(100 * row.low) + " to " + percent(100 * row.high) },
  ]);
  return html("div", {}, html("h3", {}, label), table(label, columns, rows).element);
}

/**
 * Returns the picture of all bricks: the width of a brick is its time, since the numbers of samples do not compare
 * bricks; that of a frame is its share in the samples of the brick.
 *
 * @param {LineProfile} lines
 */
function wholeView(lines) {
  const root = cellOf("all bricks", undefined, colour("Other"));
  for (const brick of lines.bricks) {
    const ns = linesNs(brick);
    const tree = brick.java ?? brick.natives;
    if (ns > 0) {
      const cell = cellOf(linesName(brick), root, brickColour(brick.brick));
      if (tree === undefined || !hasShares(tree)) {
        cell.weight = ns;
      } else {
        grow(cell, lines, tree);
        scale(cell, ns / cell.weight);
      }
      root.weight += ns;
    }
  }
  const restNs = brickNs - root.weight;
  if (restNs > brickNs / 1e6) {
    cellOf("bricks without samples", root, colour("Other")).weight = restNs;
    root.weight = brickNs;
  }
  const doubted = lines.bricks.filter((brick) => brick.doubted).map(linesName);
  const hasBoth = lines.bricks.some(({ java, natives }) => java !== undefined && natives !== undefined);
  return [
    note("The width of a brick is its time; that of a frame is its share in the brick\u2019s samples in Java code, or in native code if there are no others."
      + (hasBoth ? " Samples in native code of bricks that have both are a choice of their own: they are taken at another rate." : "")
      + (doubted.length > 0 ? " The virtual machine has lost samples of " + doubted.join(", ") + ": the frames may be those of a part of the time." : "")),
    icicle(root, "time", (cell) => duration(cell.weight)),
  ];
}

/**
 * Returns the picture of all bricks of a recording that has none: the width of a brick is the number of its samples,
 * since its time is unknown.
 *
 * @param {LineProfile} lines
 */
function sampledView(lines) {
  const root = cellOf("all bricks", undefined, colour("Other"));
  const isOneRate = lines.mode !== undefined;
  for (const brick of lines.bricks) {
    const trees = present([brick.java, isOneRate && brick.natives]);
    if (trees.length > 0) {
      const cell = cellOf(linesName(brick), root, brickColour(brick.brick));
      trees.forEach((tree) => grow(cell, lines, tree));
      root.weight += cell.weight;
    }
  }
  return [
    note("The width of a brick is the number of its samples" + (isOneRate ? "." : " in Java code.") + " Times are unknown."),
    icicle(root, "samples", (cell) => plural(cell.weight, "sample", "samples")),
  ];
}

/**
 * Returns the time of a brick in a phase, or outside of all phases; 0 if it is unknown.
 *
 * @param {BrickLines} of
 */
function linesNs({ brick, phase }) {
  /** @param {Brick[]} among */
  const nsIn = (among) => among.find(({ name }) => name === brick)?.total_ns ?? 0;
  const phases = profile.phases ?? [];
  return phase === undefined
    ? nsIn(bricks) - sum(phases, (each) => nsIn(each.bricks))
    : sum(phases.filter((each) => each.phase === phase.toLowerCase()), (each) => nsIn(each.bricks));
}

/** @param {string} name */
function brickColour(name) {
  return colour(bricks.find((brick) => brick.name === name)?.category ?? "Other");
}

// ---- the cells of an icicle ----

/**
 * Returns a cell without weight.
 *
 * @param {string} name
 * @param {LineCell | undefined} above
 * @param {string} fill
 * @returns {LineCell}
 */
function cellOf(name, above, fill) {
  /** @type {LineCell} */
  const cell = { name, above, fill, weight: 0, self: 0, below: [], lines: new Map(), modes: new Map() };
  if (above !== undefined) {
    above.below.push(cell);
  }
  return cell;
}

/**
 * Adds the frames of a tree below a cell; its weight is the number of samples. Frames of one method with the same caller
 * are one cell.
 *
 * @param {LineCell} root
 * @param {LineProfile} lines
 * @param {CallTree} tree
 */
function grow(root, lines, tree) {
  /** @type {LineCell[]} */
  const cells = [];
  /** @type {Map<LineCell, Map<number, LineCell>>} */
  const known = new Map();
  tree.parent.forEach((parent, i) => {
    const above = parent < 0 ? root : cells[parent];
    const method = lines.frame_method[tree.frame[i]];
    const siblings = known.get(above) ?? new Map();
    known.set(above, siblings);
    const cell = siblings.get(method) ?? cellOf(lines.methods[method], above, root.fill);
    siblings.set(method, cell);
    cells.push(cell);
    cell.self += tree.self[i];
  });
  tree.self.forEach((samples, i) => {
    root.weight += samples;
    for (let node = i; node >= 0; node = tree.parent[node]) {
      const frame = tree.frame[node];
      cells[node].weight += samples;
      add(cells[node].lines, String(lines.frame_line[frame]), samples);
      add(cells[node].modes, lines.modes[lines.frame_mode[frame]], samples);
    }
  });
  sortBelow(root);
}

/**
 * @param {Map<string, number>} counts
 * @param {string} key
 * @param {number} n
 */
function add(counts, key, n) {
  counts.set(key, (counts.get(key) ?? 0) + n);
}

/** @param {LineCell} cell */
function sortBelow(cell) {
  cell.below.sort((a, b) => b.weight - a.weight);
  cell.below.forEach(sortBelow);
}

/**
 * @param {LineCell} cell
 * @param {number} factor
 */
function scale(cell, factor) {
  cell.weight *= factor;
  cell.self *= factor;
  [cell.lines, cell.modes].forEach((counts) => counts.forEach((n, key) => counts.set(key, n * factor)));
  cell.below.forEach((each) => scale(each, factor));
}

/**
 * Returns the counts as shares, the largest first.
 *
 * @param {Map<string, number>} counts
 * @param {number} most
 * @returns {[string, number][]}
 */
function sharesOf(counts, most) {
  const all = sum([...counts.values()], Number);
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, most).map(([key, n]) => [key, 100 * ratio(n, all)]);
}

/**
 * Returns a cell in words, whose lines are links if their source is known.
 *
 * @param {LineCell} cell
 * @param {LineCell} root
 * @param {(cell: LineCell) => string} amount
 */
function cellText(cell, root, amount) {
  const within = cell === root ? "" : ", " + percent(100 * ratio(cell.weight, root.weight)) + "\u00a0% of " + root.name;
  const own = cell.self > 0 ? "; " + percent(100 * ratio(cell.self, cell.weight)) + "\u00a0% in itself" : "";
  const lines = sharesOf(cell.lines, 3).filter(([line]) => Number(line) > 0);
  const modes = sharesOf(cell.modes, 3).filter(([mode]) => mode !== "");
  return [
    visible(cell.name) + ": " + amount(cell) + within + own,
    ...lines.flatMap(([line, pct]) => ["; ", linked(cell.name, Number(line), "line " + line), " " + percent(pct) + "\u00a0%"]),
    ...modes.map(([mode, pct]) => "; " + visible(mode) + " " + percent(pct) + "\u00a0%"),
  ];
}

/**
 * Returns a picture of cells, each below its caller. A click or Enter makes a cell as wide as the picture.
 *
 * @param {LineCell} root
 * @param {string} what
 * @param {(cell: LineCell) => string} amount
 */
function icicle(root, what, amount) {
  let chosen = root;
  let zoomed = root;
  const readout = html("p", { class: "quiet readout", role: "status" });
  const picture = svg("svg", { class: "icicle", "aria-hidden": "true" });
  /** @type {Map<EventTarget | null, LineCell>} */
  let cellAt = new Map();

  /** @param {LineCell} cell */
  const say = (cell) => {
    readout.replaceChildren(...cellText(cell, root, amount));
  };

  /** @param {LineCell} cell */
  function choose(cell) {
    chosen = cell;
    // The chosen cell is always drawn: a cell beside the enlarged one, or a narrow one, needs more room.
    const isDrawn = ancestors(cell).includes(zoomed) || ancestors(zoomed).includes(cell);
    if (!isDrawn || (ancestors(cell).includes(zoomed) && CELLS_WIDE * ratio(cell.weight, zoomed.weight) < NARROW_CELL)) {
      zoomed = cell.above ?? root;
    }
    draw();
    say(cell);
  }

  /** @param {LineCell} cell */
  function zoom(cell) {
    zoomed = cell;
    choose(cell);
  }

  /** @param {number} step */
  function beside(step) {
    const siblings = chosen.above === undefined ? [chosen] : chosen.above.below;
    choose(siblings[Math.min(siblings.length - 1, Math.max(0, siblings.indexOf(chosen) + step))]);
  }

  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowDown: () => choose(chosen.below[0] ?? chosen),
    ArrowUp: () => choose(chosen.above ?? chosen),
    ArrowLeft: () => beside(-1),
    ArrowRight: () => beside(1),
    Enter: () => zoom(chosen),
    Escape: () => zoom(root),
  };

  function draw() {
    cellAt = new Map();
    picture.replaceChildren();
    const path = ancestors(zoomed);
    let bottom = 0;
    /**
     * @param {LineCell} cell
     * @param {number} x
     * @param {number} depth
     */
    const drawCell = (cell, x, depth) => {
      const wide = path.includes(cell) ? CELLS_WIDE : CELLS_WIDE * ratio(cell.weight, zoomed.weight);
      if (wide < 1) {
        return;
      }
      const y = depth * CELL_HIGH;
      bottom = Math.max(bottom, y + CELL_HIGH);
      const [mode = ""] = sharesOf(cell.modes, 1)[0] ?? [];
      const box = svg("rect", {
        class: "span leads" + (cell.name === OTHER_PATHS ? " uncounted" : ""),
        "--colour": MODES.get(mode) ?? cell.fill,
        x: x.toFixed(1),
        y,
        width: wide.toFixed(1),
        height: CELL_HIGH - 2,
      });
      cellAt.set(box, cell);
      picture.append(box);
      const letters = Math.floor((wide - 6) / 7);
      if (letters >= 3) {
        picture.append(svg("text", { class: "within strong", x: (x + 3).toFixed(1), y: y + 12 }, cellLabel(cell, letters)));
      }
      if (cell === chosen) {
        picture.append(svg("rect", { class: "within chosen-row", x: x.toFixed(1), y, width: wide.toFixed(1), height: CELL_HIGH - 2 }));
      }
      let at = x;
      for (const each of cell.below) {
        if (!path.includes(cell) || cell === zoomed) {
          drawCell(each, at, depth + 1);
          at += CELLS_WIDE * ratio(each.weight, zoomed.weight);
        } else if (path.includes(each)) {
          drawCell(each, 0, depth + 1);
        }
      }
    };
    drawCell(root, 0, 0);
    fill(picture, { width: CELLS_WIDE, height: bottom, viewBox: `0 0 ${CELLS_WIDE} ${bottom}` }, []);
  }

  picture.addEventListener("pointermove", ({ target }) => say(cellAt.get(target) ?? chosen));
  picture.addEventListener("pointerleave", () => say(chosen));
  picture.addEventListener("click", ({ target }) => {
    const cell = cellAt.get(target);
    if (cell !== undefined) {
      zoom(cell);
    }
  });
  const scroll = html(
    "div",
    {
      class: "scroll",
      role: "region",
      tabindex: "0",
      "aria-label": "Frames of " + root.name + " by " + what
        + ". Down chooses the largest frame that was called, up the caller, left and right a frame beside it; Enter enlarges it, Escape shows all.",
      onkeydown: (event) => {
        const act = keys[/** @type {KeyboardEvent} */ (event).key];
        if (act !== undefined) {
          event.preventDefault();
          act();
        }
      },
    },
    picture,
  );
  draw();
  say(root);
  return html("div", {}, modeKey(root), scroll, readout);
}

/** A chosen cell is at least this wide. */
const NARROW_CELL = 3;

/**
 * Returns a cell and its callers, up to the root.
 *
 * @param {LineCell} cell
 */
function ancestors(cell) {
  const path = [cell];
  for (let above = cell.above; above !== undefined; above = above.above) {
    path.push(above);
  }
  return path;
}

/**
 * Returns the name of a cell for a few letters: the class and the method without the package, and the line if all
 * samples passed through one; shortened if it must be.
 *
 * @param {LineCell} cell
 * @param {number} letters
 */
function cellLabel(cell, letters) {
  const line = cell.lines.size === 1 ? [...cell.lines.keys()][0] : "";
  const name = visible(cell.name);
  const short = cell.lines.size === 0 ? name : name.split(".").slice(-2).join(".");
  const label = Array.from(short + (Number(line) > 0 ? ":" + line : ""));
  return label.length <= letters ? label.join("") : label.slice(0, letters - 1).join("") + "\u2026";
}

/** @param {LineCell} root */
function modeKey(root) {
  /** @type {Set<string>} */
  const used = new Set();
  /** @param {LineCell} cell */
  const collect = (cell) => {
    const [mode = ""] = sharesOf(cell.modes, 1)[0] ?? [];
    used.add(mode);
    cell.below.forEach(collect);
  };
  collect(root);
  const shown = [...MODES].filter(([mode]) => used.has(mode));
  return shown.length === 0
    ? ""
    : html("p", { class: "quiet key" }, shown.map(([mode, fill]) => html("span", {}, html("i", { class: "swatch", "--colour": fill, "aria-hidden": "true" }), "mostly " + mode)));
}
