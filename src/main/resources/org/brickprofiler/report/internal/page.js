/*
 * What the pages of this library have in common: they draw from JSON that stands in them. No library, no network, no markup
 * from data: all text goes through text nodes. A module, in which the script of one page follows.
 */

/** The value of the element that holds it as JSON; undefined where there is none. */
function held(id) {
  const element = document.getElementById(id);
  return element === null ? undefined : JSON.parse(element.textContent);
}

// ---- elements ----

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined) {
      continue;
    }
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (name.startsWith("--")) {
      element.style.setProperty(name, value);
    } else {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat(2).filter((child) => child !== undefined && child !== ""));
  return element;
}

/** An element of HTML; strings become text. */
function html(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function title(text) {
  return svg("title", {}, text);
}

// ---- numbers, as TextReport prints them: four significant digits ----

const FORMATS = [0, 1, 2, 3].map(
  (decimals) =>
    new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
);
const TIME_UNITS = ["ns", "\u00b5s", "ms", "s"];
const PREFIXES = ["", "k", "M", "G", "T", "P"];
const NONE = "\u2013";
const NARROW = "\u00a0";

function plain(rounded) {
  const digits = Math.max(1, Math.floor(Math.log10(Math.max(1, rounded)) + 1e-9) + 1);
  return FORMATS[Math.max(0, 4 - digits)].format(rounded);
}

function scaled(value, units) {
  let rounded = Number(value.toPrecision(4));
  const whole = Number.isInteger(rounded);
  let unit = 0;
  while (unit < units.length - 1 && rounded >= 1000) {
    rounded /= 1000;
    unit++;
  }
  return [unit === 0 && whole ? FORMATS[0].format(rounded) : plain(rounded), units[unit]];
}

/** A duration as text, from ns. */
function duration(ns) {
  return scaled(ns, TIME_UNITS).join(NARROW);
}

function measured([figure, unit]) {
  return html("span", { class: "measure" }, figure + NARROW, html("span", { class: "unit" }, unit));
}

/** A duration in a column: units have one width, so that numbers end at one place. */
function time(ns) {
  return measured(scaled(ns, TIME_UNITS));
}

function rate(value) {
  return measured(scaled(value, PREFIXES));
}

function count(value) {
  return FORMATS[0].format(value);
}

function number(value) {
  return plain(Number(value.toPrecision(4)));
}

function percent(value) {
  return value > 0 && value < 0.05 ? "<0.1" : FORMATS[1].format(value);
}

function ratio(part, whole) {
  return whole === 0 ? 0 : part / whole;
}

function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0);
}

function plural(n, one, many) {
  return count(n) + " " + (n === 1 ? one : many);
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

// ---- names ----

const LONGEST_NAME = 44;

/** Makes visible what a browser would obey or hide: controls, marks of direction, lone halves of characters. */
function visible(name) {
  return name.replace(
    /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
    (character) => "\\u" + character.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

function shortened(name) {
  const characters = Array.from(visible(name));
  return characters.length <= LONGEST_NAME
    ? characters.join("")
    : characters.slice(0, 24).join("") + "\u2026" + characters.slice(-19).join("");
}

/** A name as text of its own direction. */
function named(name) {
  const short = shortened(name);
  return html("bdi", { title: short === visible(name) ? false : visible(name) }, short);
}

function colour(category) {
  return "var(--" + category.toLowerCase().replaceAll(" ", "-") + ", var(--other))";
}

function categoryCell(category) {
  return html("span", {}, html("i", { class: "swatch", "--colour": colour(category), "aria-hidden": "true" }), category);
}

// ---- tables ----

/**
 * A table. A column has a label, the cell of a row, and optionally: text (aligned to the left), value (to sort by),
 * below (makes what stands under the label), total (of the last line).
 */
function table(label, columns, rows, { sorted, detail, wide } = {}) {
  const body = html("tbody", {});
  const lines = rows.map((row) => line(columns, row, detail));
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

  function sort(column, silent) {
    const at = heads[columns.indexOf(column)];
    const first = column.text ? "ascending" : "descending";
    const second = column.text ? "descending" : "ascending";
    const order = at.getAttribute("aria-sort") === first ? second : first;
    heads.forEach((each) => each.removeAttribute("aria-sort"));
    at.setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    lines.sort((a, b) => sign * compare(column.value(a.row), column.value(b.row)));
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
  // Its header stays in sight where the table need not scroll by itself.
  new ResizeObserver(() => scroll.classList.toggle("fits", element.offsetWidth <= scroll.clientWidth)).observe(scroll);
  return { element: html("div", {}, said, scroll), lines };
}

function columnHead(column, sort) {
  const content = column.value
    ? html("button", { type: "button", class: "sort", onclick: () => sort(column) }, column.label)
    : column.label;
  return html("th", { scope: "col", class: column.text ? "text" : false, title: column.hint }, content, column.below ? column.below() : "");
}

function totalCell(column, index) {
  const content = column.total === undefined ? "" : column.total;
  return index === 0
    ? html("th", { scope: "row", class: "text" }, content)
    : html("td", { class: column.text ? "text" : false }, content);
}

function line(columns, row, detail) {
  const made = { row, opened: undefined };
  const cells = columns.map((column, index) => {
    let content = column.cell(row);
    if (index > 0) {
      return html("td", { class: column.text ? "text" : false }, content);
    }
    if (detail) {
      content = html("button", { type: "button", class: "open", "aria-expanded": "false", onclick: toggle }, content);
    }
    return html("th", { scope: "row", class: "text" }, content);
  });
  made.tr = html("tr", {}, cells);

  function toggle(event) {
    if (made.opened) {
      made.opened.remove();
      made.opened = undefined;
    } else {
      made.opened = html("tr", { class: "detail" }, html("td", { colspan: columns.length }, detail(row)));
      made.tr.after(made.opened);
    }
    event.currentTarget.setAttribute("aria-expanded", String(made.opened !== undefined));
  }

  return made;
}

function compare(a, b) {
  return typeof a === "string" ? a.localeCompare(b, "en") : a - b;
}

/** A share behind its bar, whose length is in proportion to the largest. */
function share(part, whole, largest, category) {
  return html(
    "span",
    { class: "share", "--colour": colour(category) },
    html("i", { "aria-hidden": "true", "--part": 100 * ratio(part, largest) + "%" }),
    html("span", {}, percent(100 * ratio(part, whole))),
  );
}

/** A field that hides the rows of a table whose words lack what is typed, and how many are left. */
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

/** The head of a page, from which the JSON of an element can be saved. */
function head(heading, below, id, file) {
  const save = html("button", { type: "button", class: "action", onclick: () => saveJson(id, file) }, "Save JSON");
  return html(
    "header",
    {},
    html("div", { class: "head" }, html("h1", {}, heading), save),
    html("p", { class: "quiet" }, below),
  );
}

/** The JSON as it was written: the page holds an escape for one character, which JSON never escapes. */
function saveJson(id, file) {
  const held = document.getElementById(id).textContent;
  const json = held.replace(/\\(?:u003c|[^])/g, (escape) => (escape === "\\u003c" ? "<" : escape));
  const url = URL.createObjectURL(new Blob([json], { type: "application/json" }));
  html("a", { href: url, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** What makes the numbers read wrongly. */
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

function figure(label, value, explanation) {
  return html(
    "div",
    {},
    html("dt", {}, label),
    html("dd", { class: "value" }, value),
    html("dd", { class: "quiet" }, explanation),
  );
}

/** A bar of parts, each with a label, a colour and its percentage of the bar's full length. */
function stacked(text, parts) {
  const bar = html("div", { class: "whole", role: "img", "aria-label": text });
  for (const { label, colour, pct } of parts) {
    const part = html("span", { title: label, "--colour": colour }, html("i", {}), html("b", {}, pct >= 7 ? label : NARROW));
    part.style.flexBasis = pct + "%";
    bar.append(part);
  }
  return bar;
}

/** Bars on one scale, each with a label, its total, and a text that says all of it. */
function bars(each) {
  return html(
    "div",
    { class: "sides" },
    each.map(({ label, total, text, parts }) => [html("p", {}, label, html("span", { class: "quiet" }, total)), stacked(text, parts)]),
  );
}

function section(name, note, ...content) {
  const id = name.toLowerCase().replaceAll(" ", "-");
  return html(
    "section",
    { "aria-labelledby": id, id: "section-" + id },
    html("div", { class: "section-head" }, html("h2", { id }, name), note),
    content,
  );
}

function note(text) {
  return html("p", {}, text);
}

// ---- maps ----

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const SHADES = 8;
const DARKEST = 4;

/** Shades of a map of times: from the row's median on, by their multiples of it. */
const MULTIPLES = {
  of: (ns, row) => Math.min(1, Math.log2(Math.max(1, ratio(ns, row.median))) / Math.log2(DARKEST)),
  from: 0,
  words: ["the median or less ", " " + DARKEST + " times the median or more"],
};

/**
 * A map of times, each shaded by its distance from its row's median. Cells of a row that look alike are one path.
 *
 * @param name of the map
 * @param columns their labels
 * @param axis what the columns are
 * @param end what stands behind a row, and over these
 * @param rows each with a name, a median and the times of its columns, null where there is none
 * @param said what the map shows, as a sentence
 * @param describe the text of a cell, from its row, its column's label and its time
 * @param scale of gives the shade of a time, from -1 or 0 to 1, and words are those of its ends
 */
function heatMap({ name, columns, axis, end: [over, behind], rows, said, describe, scale = MULTIPLES }) {
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
    role: "img",
    "aria-label": "Heat map, " + rows.length + " by " + columns.length + ". " + said,
  });
  rows.forEach((row, y) => {
    const shades = row.times.map((ns) => (ns === null ? null : Math.round(SHADES * scale.of(ns, row))));
    const paths = new Map();
    for (let x = 0, end; x < shades.length; x = end) {
      // Cells without a gap are one box.
      for (end = x + 1; gap === 0 && shades[end] === shades[x]; end++);
      if (shades[x] !== null) {
        const box = `M${left + x * width} ${y * height}h${(end - x) * width - gap}v${height - 1}h${gap - (end - x) * width}z`;
        paths.set(shades[x], (paths.get(shades[x]) || "") + box);
      }
    }
    picture.append(svg("text", { class: "strong", x: left - 8, y: y * height + 13, "text-anchor": "end" }, shortened(row.name)));
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
  picture.addEventListener("pointermove", (event) => {
    const box = picture.getBoundingClientRect();
    const row = rows[Math.floor((event.clientY - box.top) / height)];
    const x = Math.floor((event.clientX - box.left - left) / width);
    const ns = row && columns[x] !== undefined ? row.times[x] : null;
    readout.textContent = ns === null ? NARROW : describe(row, columns[x], ns);
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

function shadeOf(shade) {
  return { class: shade < 0 ? "cell below" : "cell", "fill-opacity": 0.1 + (0.9 * Math.abs(shade)) / SHADES };
}

/** Fills the page. */
function show(...parts) {
  document.getElementById("report").append(...parts.filter((part) => part !== ""));
}
