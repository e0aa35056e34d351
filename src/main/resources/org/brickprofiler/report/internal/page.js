// @ts-check
/*
 * The common part of the pages of this library, which draw from the JSON that they contain. They use no library and no
 * network, and create no markup from data: all text becomes text nodes. The script of one page follows in the same
 * module.
 */

/**
 * Returns the value of an element that contains JSON; undefined if the page has no such element.
 *
 * @template {keyof Held} Id
 * @param {Id} id
 * @returns {Held[Id] | undefined}
 */
function held(id) {
  return document.getElementById(id) === null ? undefined : needed(id);
}

/**
 * Returns the value of an element that contains JSON and that every page of this kind has.
 *
 * @template {keyof Held} Id
 * @param {Id} id
 * @returns {Held[Id]}
 */
function needed(id) {
  return JSON.parse(textOf(id));
}

/**
 * Returns the text of an element that every page of this kind has.
 *
 * @param {string} id
 */
function textOf(id) {
  const text = elementOf(id).textContent;
  return text === null ? "" : text;
}

/** @param {string} id */
function elementOf(id) {
  const element = document.getElementById(id);
  if (element === null) {
    throw new Error("the page has no element " + id);
  }
  return element;
}

// ---- elements ----

const SVG = "http://www.w3.org/2000/svg";

/**
 * @template {HTMLElement | SVGElement} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {Content[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) {
      continue;
    }
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (name.startsWith("--")) {
      element.style.setProperty(name, String(value));
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children.flat(2)) {
    if (child !== undefined && child !== "") {
      element.append(child);
    }
  }
  return element;
}

/**
 * Returns an HTML element. Strings become text nodes.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Content[]} children
 */
function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {Content[]} children
 */
function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** @param {string} text */
function title(text) {
  return svg("title", {}, text);
}

// ---- numbers: three significant digits ----

const DIGITS = 3;
const MOST_DECIMALS = 6;
const FORMATS = Array.from(
  { length: MOST_DECIMALS + 1 },
  (_, decimals) => new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
);
const TIME_UNITS = ["ns", "\u00b5s", "ms", "s"];
const PREFIXES = ["", "k", "M", "G", "T", "P"];
const NONE = "\u2013";
const NARROW = "\u00a0";

/** @param {number} value */
function rounded(value) {
  return Number(value.toPrecision(DIGITS));
}

/**
 * Returns a rounded number as text, with the zeros at its end that are among its digits.
 *
 * @param {number} value
 */
function plain(value) {
  const decimals = value === 0 ? 0 : Math.max(0, DIGITS - 1 - Math.floor(Math.log10(Math.abs(value)) + 1e-9));
  return decimals > MOST_DECIMALS ? value.toExponential(DIGITS - 1) : FORMATS[decimals].format(value);
}

/**
 * @param {number} value
 * @param {string[]} units
 * @returns {Measure}
 */
function scaled(value, units) {
  let figure = rounded(value);
  const isWhole = Number.isInteger(figure);
  let unit = 0;
  while (unit < units.length - 1 && figure >= 1000) {
    figure /= 1000;
    unit++;
  }
  return [unit === 0 && isWhole ? FORMATS[0].format(figure) : plain(figure), units[unit]];
}

/**
 * Returns a duration in ns as text.
 *
 * @param {number} ns
 */
function duration(ns) {
  return scaled(ns, TIME_UNITS).join(NARROW);
}

/** @param {Measure} measure */
function measured([figure, unit]) {
  return html("span", { class: "measure" }, figure + NARROW, html("span", { class: "unit" }, unit));
}

/**
 * Returns a duration for a column: all units have the same width, so that numbers are aligned at their ends.
 *
 * @param {number} ns
 */
function time(ns) {
  return measured(scaled(ns, TIME_UNITS));
}

/** @param {number} value */
function rate(value) {
  return measured(scaled(value, PREFIXES));
}

/** @param {number} value */
function count(value) {
  return FORMATS[0].format(value);
}

/** @param {number} value */
function number(value) {
  return plain(rounded(value));
}

/** @param {number} value */
function percent(value) {
  return value > 0 && value < 0.05 ? "<0.1" : FORMATS[1].format(value);
}

/**
 * @param {number} part
 * @param {number} whole
 */
function ratio(part, whole) {
  return whole === 0 ? 0 : part / whole;
}

/**
 * @template Item
 * @param {Item[]} items
 * @param {(item: Item) => number} value
 */
function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0);
}

/**
 * @param {number} n
 * @param {string} one
 * @param {string} many
 */
function plural(n, one, many) {
  return count(n) + " " + (n === 1 ? one : many);
}

/** An interval with fewer degrees of freedom is of few marks. */
const FEW_DEGREES = 3;

/** @param {Estimable} brick */
function isEstimated(brick) {
  return brick.estimated === true;
}

/**
 * Marks a number that is an estimate.
 *
 * @param {boolean} estimated
 * @param {Content} content
 * @returns {Content}
 */
function marked(estimated, content) {
  if (!estimated || content === NONE) {
    return content;
  }
  return Array.isArray(content) ? ["~", ...content] : ["~", content];
}

/**
 * Returns half of the 95 % interval of a total, in percent of it; -1 if too few samples have marks.
 *
 * @param {Estimable} brick
 */
function errorOf(brick) {
  if (!isEstimated(brick)) {
    return 0;
  }
  return brick.half_interval_ns === undefined ? -1 : 100 * ratio(brick.half_interval_ns, brick.total_ns);
}

/** @param {Estimable} brick */
function errorCell(brick) {
  const error = errorOf(brick);
  const few = (brick.degrees_of_freedom ?? FEW_DEGREES) < FEW_DEGREES ? " few" : "";
  return isEstimated(brick) ? (error < 0 ? "?" : number(error) + few) : "exact";
}

/** @param {string} text */
function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// ---- names ----

const LONGEST_NAME = 44;

/**
 * Escapes characters that a browser would interpret or hide: control characters, direction marks, lone surrogates.
 *
 * @param {string} name
 */
function visible(name) {
  return name.replace(
    // eslint-disable-next-line no-control-regex
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

/** @param {string} name */
function shortened(name) {
  const characters = Array.from(visible(name));
  return characters.length <= LONGEST_NAME
    ? characters.join("")
    : characters.slice(0, 24).join("") + "\u2026" + characters.slice(-19).join("");
}

const LEAST_IN_COMMON = 8;

/**
 * Returns the labels of names. Of a long name that begins as another one does, the part in common is cut, and at the end
 * likewise, so that the part that differs stays; of any other long name of a C++ function, its own name and the first
 * template arguments stay. Different names have different labels.
 *
 * @param {string[]} names
 */
function labelsOf(names) {
  /** @type {Map<string, string>} */
  const labels = new Map();
  const sorted = [...new Set(names)].sort();
  const long = sorted.map(visible).filter((name) => Array.from(name).length > LONGEST_NAME).sort();
  /** @type {Map<string, number>} */
  const uses = new Map();
  for (const name of sorted) {
    const shown = visible(name);
    const at = long.indexOf(shown);
    const part = at < 0 ? shown : differing(shown, present([long[at - 1], long[at + 1]]));
    const label = at < 0 ? shown : part === shown ? ofFunction(shown) : shortened(part);
    const use = (uses.get(label) ?? 0) + 1;
    uses.set(label, use);
    labels.set(name, use === 1 ? label : label + " (" + use + ")");
  }
  return labels;
}

/**
 * Returns the name of a C++ function with its template arguments, without return type, namespaces and parameters, cut at
 * the end. Any other long name is cut in its middle.
 *
 * @param {string} name
 */
function ofFunction(name) {
  const bare = name.replace(/(?:\(anonymous namespace\)|\b\w+)::/g, "");
  let depth = 0;
  let start = 0;
  let end = 0;
  while (end < bare.length && !(depth === 0 && bare[end] === "(")) {
    depth += bare[end] === "<" ? 1 : bare[end] === ">" ? -1 : 0;
    start = depth === 0 && bare[end] === " " ? end + 1 : start;
    end++;
  }
  const declared = bare.slice(start, end);
  if (!/^\w+</.test(declared) && !(name.includes("::") && /^\w+$/.test(declared))) {
    return shortened(name);
  }
  const characters = Array.from(declared);
  return characters.length <= LONGEST_NAME ? declared : characters.slice(0, LONGEST_NAME - 1).join("") + "\u2026";
}

/**
 * Returns the part of a name in which it differs from those beside it in the order of the alphabet, cut between words.
 *
 * @param {string} name
 * @param {string[]} others
 */
function differing(name, others) {
  const [from, other] = others.map((each) => /** @type {const} */ ([commonStart(name, each), each])).sort((a, b) => b[0] - a[0])[0] ?? [0, ""];
  if (from < LEAST_IN_COMMON) {
    return name;
  }
  const start = name.slice(0, from).replace(/\w+$/, "").length;
  const rest = name.slice(start);
  const isShort = Array.from(rest).length < LONGEST_NAME;
  const common = isShort ? 0 : commonStart([...rest].reverse().join(""), [...other.slice(start)].reverse().join(""));
  const end = rest.length - common;
  const word = /^\w*/.exec(rest.slice(end));
  const cut = end + (word === null ? 0 : word[0].length);
  const middle = rest.length - cut < LEAST_IN_COMMON || cut === 0 ? rest : rest.slice(0, cut) + "\u2026";
  return (start === 0 ? "" : "\u2026") + middle;
}

/**
 * Returns the length of the part with which two texts begin.
 *
 * @param {string} one
 * @param {string} two
 */
function commonStart(one, two) {
  let length = 0;
  while (length < one.length && one[length] === two[length]) {
    length++;
  }
  return length;
}

/**
 * Returns a name as text with its own direction, shortened if it is long.
 *
 * @param {string} name
 * @param {string} [label]
 */
function named(name, label) {
  const short = label ?? shortened(name);
  return html("bdi", { title: short === visible(name) ? false : visible(name) }, short);
}

/** @param {string} category */
function colour(category) {
  return "var(--" + category.toLowerCase().replaceAll(" ", "-") + ", var(--other))";
}

/** @param {string} category */
function categoryCell(category) {
  return html("span", {}, html("i", { class: "swatch", "--colour": colour(category), "aria-hidden": "true" }), category);
}

// ---- tables ----

/**
 * Returns the entries of a list without missing ones, which a condition excluded.
 *
 * @template Entry
 * @param {(Entry | false | null | undefined)[]} entries
 * @returns {Entry[]}
 */
function present(entries) {
  return entries.flatMap((entry) => (entry === false || entry === null || entry === undefined ? [] : [entry]));
}

/**
 * Returns a table. A column has a label, the cell of a row, and optionally: text (aligned to the left), value (to sort
 * by), below (creates the element under the label), total (the cell of the last line).
 *
 * @template Row
 * @param {string} label
 * @param {Column<Row>[]} columns
 * @param {Row[]} rows
 * @param {TableOptions<Row>} options
 * @returns {Table<Row>}
 */
function table(label, columns, rows, { sorted, detail, toggled, wide } = {}) {
  const body = html("tbody", {});
  const lines = rows.map((row) => line(columns, row, detail, toggled));
  lines.forEach(({ tr }) => body.append(tr));
  const heads = columns.map((column) => columnHead(column, (clicked) => sort(clicked)));
  const said = html("p", { class: "unseen", role: "status" });
  const totals = columns.some((column) => column.total !== undefined);
  const element = html(
    "table",
    { class: wide ? "wide" : false },
    html("caption", { class: "unseen" }, label),
    html("thead", {}, html("tr", {}, heads)),
    body,
    totals ? html("tfoot", {}, html("tr", {}, columns.map(totalCell))) : "",
  );

  /**
   * @param {Column<Row>} column
   * @param {boolean} [silent]
   */
  function sort(column, silent) {
    const { value } = column;
    if (value === undefined) {
      return;
    }
    const at = heads[columns.indexOf(column)];
    const first = column.text ? "ascending" : "descending";
    const second = column.text ? "descending" : "ascending";
    const order = at.getAttribute("aria-sort") === first ? second : first;
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    at.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    lines.sort((a, b) => sign * compare(value(a.row), value(b.row)));
    lines.forEach((each) => {
      body.append(each.tr);
      if (each.opened) {
        body.append(each.opened);
      }
    });
    if (!silent) {
      said.textContent = "Sorted by " + column.label + ", " + order;
    }
  }

  if (sorted !== undefined) {
    sort(columns[sorted], true);
  }
  const scroll = html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": label + ", table" }, element);
  // The header stays visible if the table fits its width, so that it does not scroll by itself.
  new ResizeObserver(() => scroll.classList.toggle("fits", element.offsetWidth <= scroll.clientWidth)).observe(scroll);
  return { element: html("div", {}, said, scroll), lines };
}

/**
 * @template Row
 * @param {Column<Row>} column
 * @param {(column: Column<Row>) => void} sort
 */
function columnHead(column, sort) {
  const content = column.value
    ? html("button", { type: "button", class: "sort", onclick: () => sort(column) }, column.label)
    : column.label;
  return html("th", { scope: "col", class: classOf(column), title: column.hint }, content, column.below ? column.below() : "");
}

/**
 * @template Row
 * @param {Column<Row>} column
 * @param {number} index
 */
function totalCell(column, index) {
  const content = column.total === undefined ? "" : column.total;
  return index === 0
    ? html("th", { scope: "row", class: "text" }, content)
    : html("td", { class: classOf(column) }, content);
}

/**
 * Returns the class of the cells of a column.
 *
 * @template Row
 * @param {Column<Row>} column
 */
function classOf({ text, isFurther }) {
  return present([text && "text", isFurther && "on-wide"]).join(" ") || false;
}

/**
 * @template Row
 * @param {Column<Row>[]} columns
 * @param {Row} row
 * @param {((row: Row) => Content) | undefined} detail
 * @param {((row: Row, isOpen: boolean) => void) | undefined} toggled
 * @returns {Line<Row>}
 */
function line(columns, row, detail, toggled) {
  const cells = columns.map((column, index) =>
    index > 0
      ? html("td", { class: classOf(column) }, column.cell(row))
      : html("th", { scope: "row", class: "text" }, detail ? opener(column.cell(row), detail) : column.cell(row)),
  );
  /** @type {Line<Row>} */
  const made = { row, tr: html("tr", {}, cells), opened: undefined, open };

  function open() {
    if (made.opened === undefined) {
      const button = made.tr.querySelector("button");
      if (button !== null) {
        button.click();
      }
    }
  }

  /**
   * @param {Content} content
   * @param {(row: Row) => Content} detail
   */
  function opener(content, detail) {
    const button = html("button", { type: "button", class: "open", "aria-expanded": "false", onclick: toggle }, content);

    function toggle() {
      if (made.opened) {
        made.opened.remove();
        made.opened = undefined;
      } else {
        made.opened = html("tr", { class: "detail" }, html("td", { colspan: columns.length }, detail(row)));
        made.tr.after(made.opened);
      }
      button.setAttribute("aria-expanded", String(made.opened !== undefined));
      if (toggled) {
        toggled(row, made.opened !== undefined);
      }
    }

    return button;
  }

  return made;
}

/**
 * @param {number | string} a
 * @param {number | string} b
 */
function compare(a, b) {
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en");
}

/**
 * Returns a share after a bar. The length of the bar is relative to the largest part, which has the full length.
 *
 * @param {number} part
 * @param {number} whole
 * @param {number} largest
 * @param {string} category
 */
function share(part, whole, largest, category) {
  return html(
    "span",
    { class: "share", "--colour": colour(category) },
    html("i", { "aria-hidden": "true", "--part": 100 * ratio(part, largest) + "%" }),
    html("span", {}, percent(100 * ratio(part, whole))),
  );
}

/**
 * Returns a filter: a field that hides the rows of a table without the typed text, and the number of visible rows.
 *
 * @template Row
 * @param {Line<Row>[]} lines
 * @param {string} label
 * @param {(row: Row) => string} words
 * @param {string} one
 * @param {string} many
 */
function filter(lines, label, words, one, many) {
  const field = html("input", { type: "search", placeholder: label, "aria-label": label, oninput: apply });
  const shown = html("span", { role: "status", class: "quiet" }, plural(lines.length, one, many));

  function apply() {
    const wanted = field.value.trim().toLowerCase();
    let n = 0;
    for (const { row, tr, opened } of lines) {
      const hit = words(row).toLowerCase().includes(wanted);
      tr.hidden = !hit;
      if (opened) {
        opened.hidden = !hit;
      }
      n += hit ? 1 : 0;
    }
    shown.textContent = wanted === "" ? plural(n, one, many) : n + " of " + plural(lines.length, one, many);
  }

  return html("span", { class: "filter" }, shown, " ", field);
}

// ---- parts of a page ----

/**
 * Returns the head of a page, with a button that saves the JSON of an element.
 *
 * @param {string} heading
 * @param {Leaf} below
 * @param {keyof Held} id
 * @param {string} file
 */
function head(heading, below, id, file) {
  const save = html("button", { type: "button", class: "action", onclick: () => saveJson(id, file) }, "Save JSON");
  return html(
    "header",
    {},
    html("div", { class: "head" }, html("h1", {}, heading), save),
    html("p", { class: "quiet" }, below),
  );
}

/**
 * Saves the JSON as it was written. The page escapes one character, the less-than sign, that JSON itself never escapes.
 *
 * @param {keyof Held} id
 * @param {string} file
 */
function saveJson(id, file) {
  const json = textOf(id).replace(/\\(?:u003c|[^])/g, (escape) => (escape === "\\u003c" ? "<" : escape));
  const url = URL.createObjectURL(new Blob([json], { type: "application/json" }));
  html("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Shows the reasons to doubt the numbers.
 *
 * @param {Content[]} found
 */
function notices(found) {
  if (found.length === 0) {
    return "";
  }
  return html(
    "section",
    { class: "notices", "aria-labelledby": "notices" },
    html("h2", { id: "notices" }, "Before you read on"),
    html("ul", {}, found.map((text) => html("li", {}, text))),
  );
}

/**
 * @param {string | Element} label
 * @param {Content} value
 * @param {Content} explanation
 */
function figure(label, value, explanation) {
  return html(
    "div",
    {},
    html("dt", {}, label),
    html("dd", { class: "value" }, value),
    html("dd", { class: "quiet" }, explanation),
  );
}

/**
 * Returns a stacked bar. Each part has a label, a colour and its percentage of the bar's full length.
 *
 * @param {string} text
 * @param {BarPart[]} parts
 */
function stacked(text, parts) {
  const bar = html("div", { class: "whole", role: "img", "aria-label": text });
  for (const { label, colour, pct } of parts) {
    const part = html("span", { title: label, "--colour": colour }, html("i", {}), html("b", {}, pct >= 7 ? label : NARROW));
    part.style.flexBasis = pct + "%";
    bar.append(part);
  }
  return bar;
}

/**
 * Returns bars on one scale, each with a label, its total, and a text with all of its values.
 *
 * @param {Bar[]} each
 */
function bars(each) {
  return html(
    "div",
    { class: "sides" },
    each.map(({ label, total, text, parts }) => [html("p", {}, label, html("span", { class: "quiet" }, total)), stacked(text, parts)]),
  );
}

/**
 * @param {string} name
 * @param {Leaf} note
 * @param {Content[]} content
 */
function section(name, note, ...content) {
  const id = name.toLowerCase().replaceAll(" ", "-");
  return html(
    "section",
    { "aria-labelledby": id, id: "section-" + id },
    html("div", { class: "section-head" }, html("h2", { id }, name), note),
    ...content,
  );
}

/** @param {string} text */
function note(text) {
  return html("p", {}, text);
}

/**
 * Follows a link within the page.
 *
 * @param {string | undefined} address
 */
function follow(address) {
  if (address !== undefined) {
    html("a", { href: address }).click();
  }
}

// ---- maps ----

/** @param {number[]} values */
function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const SHADES = 8;
const DARKEST = 4;

/**
 * The shades of a heat map of times: a time above the row's median has the shade of its multiple of the median.
 *
 * @type {Scale}
 */
const MULTIPLES = {
  of: (ns, row) => Math.min(1, Math.log2(Math.max(1, ratio(ns, row.median))) / Math.log2(DARKEST)),
  from: 0,
  words: ["the median or less ", " " + DARKEST + " times the median or more"],
};

/**
 * Returns a heat map of times, shaded by their distance from the row's median. Equal shades of a row share a path.
 *
 * @template {HeatRow} Row
 * @template Column
 * @param {HeatMap<Row, Column>} map
 */
function heatMap({ name, columns, axis, end: [over, behind], rows, said, describe, address, scale = MULTIPLES }) {
  const readout = html("p", { class: "quiet readout" }, NARROW);
  const left = 20 + 7 * Math.max(...rows.map((row) => shortened(row.name).length));
  const width = Math.max(1, Math.min(26, Math.floor(800 / columns.length)));
  const gap = width > 1 ? 1 : 0;
  const height = 18;
  const right = left + width * columns.length;
  const bottom = height * rows.length;
  const picture = svg("svg", {
    class: "heat",
    width: right + 90,
    height: bottom + 24,
    viewBox: `0 0 ${right + 90} ${bottom + 24}`,
    // The links of a picture are out of reach for assistive software; those of a group are not.
    role: address === undefined ? "img" : "group",
    "aria-label": "Heat map, " + rows.length + " by " + columns.length + ". " + said,
  });
  rows.forEach((row, y) => {
    const shades = row.times.map((ns) => (ns === null ? null : Math.round(SHADES * scale.of(ns, row))));
    /** @type {Map<number, string>} */
    const paths = new Map();
    for (let x = 0, end = 0; x < shades.length; x = end) {
      // If there is no gap between cells, adjacent cells of equal shade are one box.
      end = gap > 0 ? x + 1 : endOfRun(shades, x);
      const shade = shades[x];
      if (shade !== null) {
        const box = `M${left + x * width} ${y * height}h${(end - x) * width - gap}v${height - 1}h${gap - (end - x) * width}z`;
        paths.set(shade, (paths.get(shade) || "") + box);
      }
    }
    const label = svg("text", { class: "strong", x: left - 8, y: y * height + 13, "text-anchor": "end" }, shortened(row.name));
    const href = address?.(row);
    picture.append(href === undefined ? label : svg("a", { href }, label));
    const drawn = [...paths].sort(([one], [two]) => one - two);
    picture.append(...drawn.map(([shade, d]) => svg("path", { ...shadeOf(shade), d })));
    picture.append(svg("text", { x: right + 8, y: y * height + 13 }, behind(row)));
  });
  const longest = Math.max(...columns.map((column) => String(column).length));
  const every = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((n) => n * width >= 8 + 7 * longest) || 1000;
  columns.forEach((column, x) => {
    if (x % every === 0) {
      picture.append(svg("text", { x: left + x * width + width / 2, y: bottom + 16, "text-anchor": "middle" }, String(column)));
    }
  });
  picture.append(svg("text", { x: left - 8, y: bottom + 16, "text-anchor": "end" }, axis));
  picture.append(svg("text", { x: right + 8, y: bottom + 16 }, over));
  /** @param {MouseEvent} event */
  const pointed = (event) => {
    const box = picture.getBoundingClientRect();
    const row = rows[Math.floor((event.clientY - box.top) / height)];
    const x = Math.floor((event.clientX - box.left - left) / width);
    return { row, column: columns[x], ns: row && columns[x] !== undefined ? row.times[x] : null };
  };
  picture.addEventListener("pointermove", (event) => {
    const { row, column, ns } = pointed(event);
    readout.textContent = ns === null ? NARROW : describe(row, column, ns);
  });
  picture.addEventListener("click", (event) => {
    const { row, ns } = pointed(event);
    follow(ns === null ? undefined : address?.(row));
  });
  const shades = Array.from({ length: SHADES * (1 - scale.from) + 1 }, (_, i) => SHADES * scale.from + i);
  const legend = html(
    "p",
    { class: "quiet legend" },
    scale.words[0],
    svg(
      "svg",
      { width: 14 * shades.length, height: 12, "aria-hidden": "true" },
      shades.map((shade, i) => svg("rect", { ...shadeOf(shade), x: 14 * i, width: 13, height: 12 })),
    ),
    scale.words[1],
  );
  const scroll = html("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": name + ", heat map" }, picture);
  return html("div", {}, legend, scroll, readout);
}

/**
 * Returns the end (exclusive) of the run of equal values that begins at an index.
 *
 * @param {(number | null)[]} values
 * @param {number} from
 */
function endOfRun(values, from) {
  let end = from + 1;
  while (end < values.length && values[end] === values[from]) {
    end++;
  }
  return end;
}

/** @param {number} shade */
function shadeOf(shade) {
  return { class: shade < 0 ? "cell below" : "cell", "fill-opacity": 0.1 + (0.9 * Math.abs(shade)) / SHADES };
}

/**
 * Fills the page.
 *
 * @param {Leaf[]} parts
 */
function show(...parts) {
  fill(elementOf("report"), {}, parts);
}
