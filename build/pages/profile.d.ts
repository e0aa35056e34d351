/* The data of a profile's page, as JsonReport, RooflineReport, TimelineDigest and HtmlReport write it, beside the records of fields.d.ts. A test compares the pages with it. */

interface Held {
  profile: Profile;
  "brick-facts": BrickFact[];
  causes: Cause[];
  waits: Cause[];
  "waits-text": string;
  "request-excess": string;
  "requests-from": string;
  timeline: Timeline;
  graph: PassGraph;
  kernels: Kernel[];
  "kernel-roofline": KernelRoofline;
  "tile-places": TilePlace[];
  checksums: string;
  source: string;
  serving: ServingRates;
  account: Account;
  sources: Sources;
}

/** The sources of the classes of lines: each class, and the number of the address under which its package is. */
interface Sources {
  roots: string[];
  classes: string[];
  root: number[];
  text: string;
}

/** The rates of a server whose time line has every finished request. */
interface ServingRates {
  output_tokens_per_s: number;
  finished_per_s: number;
  live_ns: number;
}

/** How the trace was read: the lines of the summary, and the reasons to doubt the numbers. */
interface Account {
  lines: AccountLine[];
  doubts: string[];
}

/** A line; its name is empty if it belongs to the line above. */
interface AccountLine {
  what: string;
  value: string;
}

interface Finding {
  kind: string;
  place?: string;
  share: number;
  of: string;
  sentence: string;
  next?: string;
}

interface Profile {
  schema_version: string;
  identity?: Identity;
  started_at: string;
  ended_at: string;
  wall_ns: number;
  threads: number;
  virtual_threads: boolean;
  overhead_ns: number;
  dropped_pending: number;
  pending: number;
  literal_overlaps: number;
  l2_cache_hit_rate?: number;
  zero_copy: boolean;
  total_tokens: number;
  total_ns: number;
  total_throughput: number;
  pct_base: string;
  environments: Environment[];
  bricks: Brick[];
  /** The bricks of the steps of each phase; missing if no sample belongs to a step. */
  phases?: PhaseBricks[];
  categories: Category[];
  tile_profiling_enabled: boolean;
  tiles: Tile[];
  streams?: Stream[];
  steps?: Steps;
  requests?: Requests;
  request_timeline?: RequestTimeline;
  run?: Run;
  findings?: Finding[];
  roofline?: Roofline;
  virtual_machine?: VirtualMachine;
  annotated_steps?: AnnotatedSteps[];
  slow_steps?: SlowSteps;
  /** The slow steps of a profile of the whole run. */
  slowest_steps?: SlowSteps;
  lines?: LineProfile;
  now?: UnderWay;
}

/** What was under way when the report was made. */
interface UnderWay {
  since_step_ns?: number;
  /** Missing unless the engine stalls. */
  stalled_ns?: number;
  waiting: number;
  running: number;
  steps: StepUnderWay[];
  /** Where threads stand in a stall. */
  threads: ThreadUnderWay[];
  text: string[];
  /** The requests that finished in the last 1, 5 and 60 minutes. */
  recent: RecentRequests[];
}

interface RecentRequests {
  minutes: number;
  length_ns: number;
  finished: number;
  failed: number;
  time_to_first_token: RecentLatency;
  time_per_output_token: RecentLatency;
  text: string;
}

interface RecentLatency {
  count: number;
  p50_ns: number;
  p90_ns: number;
  p99_ns: number;
}

interface StepUnderWay {
  phase: string;
  elapsed_ns: number;
  thread: string;
}

interface ThreadUnderWay {
  role: string;
  thread: string;
  state: string;
  frames: string[];
  lock_known: boolean;
  lock?: string;
  owner?: string;
  owner_frames: string[];
}

/** A cause of the time of requests, or a wait: its key in records, and its name. */
interface Cause {
  key: string;
  name: string;
}

interface RequestTimeline {
  epoch_clock_ns: number;
  request_columns: string[];
  /** One row for each request, in the order of the columns; null is a value that is not known. */
  requests: (string | number | null)[][];
  /** The indices of the requests whose steps are unknown. */
  incomplete: number[];
  step_columns: string[];
  steps: number[][];
  work_columns: string[];
  works: number[][];
  own_work_columns: string[];
  own_works: number[][];
}

/** A request of the timeline as the script draws it. */
interface ServedRequest {
  record: RequestOfRun;
  works: TimelineWork[];
  ownWorks: TimelineOwnWork[];
  complete: boolean;
  /** Its number in the order of arrival, from 1. */
  number: number;
}

/** What waiting requests wait behind, from each moment at which it changes: 0 prompts, 1 decoding, 2 nothing. */
interface Waits {
  times: Float64Array;
  kinds: Uint8Array;
}

/** The requests and steps of a timeline as the script draws them. */
interface Served {
  steps: TimelineStep[];
  requests: ServedRequest[];
  waits: Waits;
  /** The row of each step. */
  lanes: number[];
  fromNs: number;
  toNs: number;
  /** The indices of causes. */
  at: { queued: number; stalled: number; delivery: number; ownWork: number; ownPrompt: number; decode: number; beside: number };
}

/** The number of a bucket, and its samples. */
type Bucket = [bucket: number, samples: number];

interface PhaseBricks {
  phase: string;
  bricks: Brick[];
}

interface Category {
  name: string;
  count: number;
  total_ns: number;
  pct: number;
  estimated?: boolean;
  standard_error_ns?: number;
  degrees_of_freedom?: number;
}

interface Steps {
  abandoned: number;
  time_to_first_token: Latency;
  time_to_first_token_ns: number;
  time_per_output_token: Latency;
  phases: Phase[];
  kept_columns: string[];
  /** One row for each step that the profile contains, in the order of the columns. */
  kept: (string | number)[][];
}

interface Run {
  tokens_per_sec?: number;
  unprofiled_tokens_per_sec?: number;
  machine?: Record<string, number>;
  disturbances?: string[];
  virtual_machines?: VirtualMachineOfRun[];
  calibrations?: Calibration[];
  nesting?: Nesting[];
}

interface Calibration {
  environment: Environment;
  clock_step_ns: Spread;
  clock_read_ns: Spread;
  clock_went_back: number;
  costs: Record<string, Cost>;
}

interface Cost {
  empty_ns: Spread;
  sample_ns: Spread;
  inside_ns: Spread;
  lap_ns: Spread;
}

/** The steps of a phase that a serving engine annotated in its trace; sums, missing if not all steps state them. */
interface AnnotatedSteps {
  phase: string;
  count: number;
  total_ns: number;
  max_ns: number;
  sequences?: number;
  prompt_tokens?: number;
  prompt_positions?: number;
  decoded_tokens?: number;
  decoded_positions?: number;
}

/** Added by the command line to the profile of a flight recording. */
interface VirtualMachine {
  clock_anchors: number;
  clock_error_ns: number;
  disturbances: Disturbance[];
}

interface Disturbance {
  brick: string;
  cause: string;
  total_ns: number;
  share: number;
  share_of_p99: number;
}

type Bound = "memory" | "compute" | "neither";

interface Roofline {
  threads: number;
  measured_at: string;
  cpu: string;
  peak_gflops: number;
  bandwidths: Bandwidth[];
  attained: number;
  bricks: RooflineBrick[];
  unplaced: string[];
  remarks: string[];
  phases?: RooflinePhase[];
}

/** The shares of the counted time that are bound by compute, by memory and by neither, 0 to 1. */
interface RooflineBounds {
  memory: number;
  compute: number;
  neither: number;
}

interface RooflinePhase {
  phase: string;
  bounds: RooflineBounds;
  attained: number;
  bricks: RooflineBrick[];
  unplaced: string[];
  remarks: string[];
}

interface Bandwidth {
  level: string;
  working_set_bytes: number;
  gbps: number;
}

interface RooflineBrick {
  name: string;
  bound: Bound;
  roof: Bound;
  total_ns: number;
  counted_ns: number;
  roof_ns: number;
  distance: number;
  above_roof: boolean;
  gflops: number;
  gbps: number;
  bandwidth_gbps: number;
  working_set_bytes: number;
  arithmetic_intensity?: number;
}

interface Kernel {
  name: string;
  backend: string;
  count: number;
  total_ns: number;
  min_ns: number;
  max_ns: number;
}

interface KernelRoofline {
  peak_gflops: number;
  bandwidth_gbps: number;
  kernels: RooflineKernel[];
  unplaced: string[];
}

interface RooflineKernel {
  name: string;
  count: number;
  total_ns: number;
  bound: Bound;
  gflops: number;
  arithmetic_intensity: number;
  distance: number;
  least_distance: number;
  most_distance: number;
  above_roof: number;
}

interface TilePlace {
  level: "macro" | "midi" | "micro";
  first_row: number;
  last_row: number;
  first_col: number;
  last_col: number;
  count: number;
  total_ns: number;
  max_ns: number;
}

/** The nodes of a pass in columns; names and kinds are indices. */
interface PassGraph {
  total_ns: number;
  left_out: number;
  parent: number[];
  name: number[];
  names: string[];
  kind: number[];
  kinds: string[];
  layer: number[];
  node_ns: number[];
  self_ns: number[];
  start_ns: number[];
  slack_ns: number[];
}

interface Timeline {
  steps: number;
  dropped: number;
  /** Whether spans have the bricks as which the profile counts them, as in the trace of another program. */
  counted: boolean;
  layers: number;
  bricks: LayerTimes[];
  shown: ShownStep[];
  names: SpanName[];
  tracks: string[];
  /** Whether each track is a device or a stream of a device. */
  streams: boolean[];
  chosen?: ChosenSteps;
}

/** The extent of a timeline that contains only chosen steps, and a sentence for each of the slowest steps. */
interface ChosenSteps {
  text: string;
  steps: ChosenStep[];
}

interface ChosenStep {
  phase: string;
  text: string;
}

/** The mean time of a brick in each layer, ns; null if it did not run there. */
interface LayerTimes {
  name: string;
  category: string;
  ns: (number | null)[];
}

/** The name of spans; for spans that count as a brick, one entry for each brick. */
interface SpanName {
  name: string;
  category: string;
  brick?: string;
  /** The category of the brick. */
  counted?: string;
  by?: Evidence;
}

/** How the brick of a span is known. */
type Evidence = "named" | "place" | "none";

/** A step with its spans in columns; tracks and names are indices. */
interface ShownStep {
  /** "slow" is a slow step other than the slowest; it occurs only in a timeline of chosen steps. */
  what: "median" | "slowest" | "slow" | "only";
  phase: string;
  elapsed_ns: number;
  after_ns: number;
  omitted: number;
  /** The number of a slow step in a timeline of chosen steps. */
  number?: number;
  /** The explanation of this slow step. */
  text?: string;
  track: number[];
  name: number[];
  layer: number[];
  start_ns: number[];
  ns: number[];
}

// ---- what the script makes of the data ----

/** What the address holds: the opened brick, the phase of the shown bricks, and their filter; each empty if none. */
interface PageState {
  brick: string;
  phase: string;
  filter: string;
}

/** The bricks of all steps, whose phase is empty, or of the steps of a phase. */
interface BrickPart {
  phase: string;
  label: string;
  base: string;
  bricks: Brick[];
}

/** A node of a pass with its children. */
interface PassNode {
  name: string;
  kind: string;
  layer: number;
  category: string;
  ns: number;
  selfNs: number;
  startNs: number;
  slackNs: number;
  parent: number;
  children: PassNode[];
}

/** The time of a brick in each layer, ns; null if it did not run there. */
interface LayerRow {
  name: string;
  category: string;
  times: (number | null)[];
}

interface Layers {
  layers: number[];
  rows: LayerRow[];
  /** What the times are. */
  heads: string;
}

interface Span {
  /** The name and the category of its brick; its own if it counts as none. */
  name: string;
  category: string;
  /** Its own name. */
  event: string;
  by: Evidence | undefined;
  track: number;
  layer: number;
  startNs: number;
  ns: number;
}

/** A step that the profile keeps: the values of its row by column, those of categories included. */
interface KeptStep {
  phase: string;
  index: number;
  started_at_unix_ns: number;
  duration_ns: number;
  batch: number;
  kv_length: number;
  [column: string]: string | number;
}

type Percentile = "p50_us" | "p90_us" | "p99_us" | "p999_us";

type Extremes = Pick<Brick, "min_ns" | "max_ns" | "min_at_least_ns" | "max_at_most_ns">;

/** The durations that a picture shows: those of a brick, or others in the same form. */
interface Distribution extends Extremes {
  category: string;
  count: number;
  total_ns: number;
  latency?: Latency;
}

/**
 * A value of a brick, or of one of its parts, that the page shows: divided by the value `per`, and only if the value
 * `when` is above 0.
 */
interface BrickFact {
  title: string;
  key: string;
  format: "text" | "count" | "ns" | "us" | "duration" | "number";
  part?: "latency" | "device" | "work";
  per?: string;
  when?: string;
}

/** A column of bricks. */
interface BrickColumn extends Column<Brick> {
  /** Whether the column has a value for a brick; a column without this has one for every brick. */
  isKnown?: (brick: Brick) => boolean;
  /** Whether a column with few values is shown, too. */
  isKept?: boolean;
  /** Whether the facts of an opened brick have the value anyway. */
  isFact?: boolean;
}

/** A label and its value. */
type Fact = [label: string, value: string];

interface TreeRow {
  tr: HTMLElement;
  close: () => void;
}

interface Wait {
  label: string;
  latency: Latency;
}

interface RoofPoint {
  name: string;
  bound: Bound | "tile";
  x: number;
  y: number;
  /** Its time, which is the area of its mark. */
  ns: number;
  category: string;
  said?: string;
}

interface Roof {
  gbps: number;
  level: string;
}

/** The place of a label or a mark: its left end and its middle. */
interface Box {
  x: number;
  y: number;
  wide: number;
  high: number;
}

/** A choice of the section of lines. */
interface LineView {
  label: string;
  draw: () => Leaf[];
}

/** A frame of an icicle, or the brick above it. */
interface LineCell {
  name: string;
  above: LineCell | undefined;
  /** Its colour unless its mode has one. */
  fill: string;
  /** Samples or ns, of itself and of all below. */
  weight: number;
  self: number;
  below: LineCell[];
  /** The weight of each line, and of each mode. */
  lines: Map<string, number>;
  modes: Map<string, number>;
}
