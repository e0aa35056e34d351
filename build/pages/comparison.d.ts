/* The data of a comparison's page, as ComparisonReport writes it. A test compares the pages with it. */

interface Held {
  comparison: BrickComparison;
}

interface BrickComparison {
  schema_version: string;
  kind: string;
  answer: string;
  /** The next step, without a full stop. */
  next?: string;
  headline: string;
  floor_pct: number;
  level: number;
  trimmed_runs: number;
  baseline?: string[];
  step_brick?: string;
  remarks: string[];
  legend: string[];
  before: ComparedRun[];
  after: ComparedRun[];
  lines: ComparedLine[];
  methods?: SlowerMethods[];
}

/** The methods of a brick that became slower. */
interface SlowerMethods {
  brick: string;
  /** Those that take longer, or why they are unknown; without a full stop. */
  text: string;
  lines: ComparedLine[];
}

interface ComparedRun {
  name: string;
  tokens_per_sec?: number;
  disturbances: string[];
}

type Verdict = "faster" | "slower" | "no_difference" | "too_few_runs" | "not_comparable" | "not_tested";

type LineKind = "total" | "step" | "tokens_per_sec" | "common" | "category" | "brick" | "brick_p50" | "brick_p90" | "brick_p99" | "tile" | "method";

interface ComparedLine {
  kind: LineKind;
  name: string;
  statistic: string;
  phase?: "prefill" | "decode" | "mixed";
  verdict: Verdict;
  note?: string;
  share_pct: number;
  before?: ComparedSide;
  after?: ComparedSide;
  speed_up?: number;
  change?: Change;
  beside_others?: Change;
  smallest_shown_pct?: number;
  probability?: number;
}

interface ComparedSide {
  tokens_per_sec?: number;
  ns?: number;
  spread_pct: number;
  runs: number;
}

interface Change {
  pct: number;
  low_pct?: number;
  high_pct?: number;
}

/** A change whose interval is known. */
interface Interval extends Change {
  low_pct: number;
  high_pct: number;
}
