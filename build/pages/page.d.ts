/* The types that the scripts of all pages share. `Held`, the data of a page by the id of its element, is declared beside that page's data. */

/**
 * The value of an attribute: false or undefined for no attribute. A function listens to the event whose name follows
 * "on".
 */
type Attribute = string | number | boolean | undefined | ((event: Event) => void);

type Attributes = Record<string, Attribute>;

/** One child of an element; none if undefined or empty. */
type Leaf = string | Node | undefined;

/** The children of an element: a leaf, or a list of leaves and of lists of leaves. */
type Content = Leaf | (Leaf | Leaf[])[];

/** A number as text, and its unit. */
type Measure = [figure: string, unit: string];

/** A total that may be an estimate. */
interface Estimable {
  total_ns: number;
  estimated?: boolean;
  half_interval_ns?: number;
  degrees_of_freedom?: number;
}

interface Column<Row> {
  label: string;
  cell: (row: Row) => Content;
  /** Whether the column is text, aligned to the left. */
  text?: boolean;
  /** The value to sort by; a column without one does not sort. */
  value?: (row: Row) => number | string;
  /** Makes the element below the label. */
  below?: () => Leaf;
  /** The cell of the last line. */
  total?: Content;
  hint?: string;
  /** Whether a narrow window has no place for the column. */
  isFurther?: boolean;
}

interface TableOptions<Row> {
  /** The number of the column by which the rows are sorted at first. */
  sorted?: number;
  /** Makes the row that opens below a row. */
  detail?: (row: Row) => Content;
  /** Is called after the detail row has opened or closed. */
  toggled?: (row: Row, isOpen: boolean) => void;
  wide?: boolean;
}

/** A row of a table on the page, and the detail row that is open below it. */
interface Line<Row> {
  row: Row;
  tr: HTMLElement;
  opened: HTMLElement | undefined;
  /** Opens the detail row; has no effect if it is open. */
  open: () => void;
}

interface Table<Row> {
  element: HTMLElement;
  lines: Line<Row>[];
}

/** A part of a bar, and its percentage of the full length. */
interface BarPart {
  label: string;
  colour: string;
  pct: number;
}

interface Bar {
  label: string;
  total: string;
  text: string;
  parts: BarPart[];
}

interface HeatRow {
  name: string;
  median: number;
  /** Whether the times are estimates. */
  estimated?: boolean;
  /** The time of each column, ns; null if there is none. */
  times: (number | null)[];
}

interface Scale {
  /** Returns the shade of a time, from -1 or 0 to 1. */
  of: (ns: number, row: HeatRow) => number;
  from: number;
  /** The words at both ends. */
  words: [string, string];
}

interface HeatMap<Row extends HeatRow, Column> {
  name: string;
  columns: Column[];
  /** The axis of the columns. */
  axis: string;
  /** The head of the texts behind the rows, and the text behind a row. */
  end: [string, (row: Row) => string];
  rows: Row[];
  /** A sentence with the result of the map. */
  said: string;
  /** The text of a cell. */
  describe: (row: Row, column: Column, ns: number) => string;
  /** The address to which the name and the cells of a row lead. */
  address?: (row: Row) => string | undefined;
  scale?: Scale;
}
