package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Pattern;
import org.brickprofiler.agent.WeaveRule.Anchor;
import org.brickprofiler.agent.WeaveRule.Call;
import org.brickprofiler.agent.WeaveRule.Kind;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RuleFileTest {

    @Test
    void readsRules() {
        RuleFile.Rules rules = RuleFile.parse("x", """
                # what is what
                step: {in: a.B.forward, tokens: tokens.length, kv: position, warmup: 3}
                layer: {in: a.B$C.layer}
                tasks: [{in: a.Pool.run}]
                bricks:
                  - in: a.B.forward(State, int[])
                    lambda: run 2
                    from: after Math.max 1
                    to: before soft
                    brick: rms_norm
                    elements: this.config.dim
                  - {in: a.B.x(), call: f 2, brick: my own, category: Attention, elements: 4}
                """);
        assertThat(rules.warmupSteps()).isEqualTo(3);
        assertThat(rules.rules())
                .extracting(WeaveRule::kind)
                .containsExactly(Kind.STEP, Kind.LAYER, Kind.TASK, Kind.BRICK, Kind.BRICK);
        assertThat(rules.rules()).extracting(WeaveRule::line).containsExactly(2, 3, 4, 6, 12);
        assertThat(rules.rules().get(0).kvLength()).hasToString("position");
        assertThat(rules.rules().get(1).target()).hasToString("a.B$C.layer");
        WeaveRule span = rules.rules().get(3);
        assertThat(span.target()).hasToString("a.B.forward(State, int[]), the lambda for run 2");
        assertThat(span.from()).isEqualTo(new Anchor(Anchor.Place.AFTER, new Call("Math", "max", 1)));
        assertThat(span.to()).hasToString("before soft");
        assertThat(span.elements().path()).containsExactly("this", "config", "dim");
        WeaveRule call = rules.rules().get(4);
        assertThat(call.target().parameters()).isEmpty();
        assertThat(call.from() + " " + call.to()).isEqualTo("before f 2 after f 2");
        assertThat(call.elements().constant()).isEqualTo(4);
    }

    @Test
    void readsOneRuleForEachMethodAndWhichStepsArePrompts() {
        RuleFile.Rules rules = RuleFile.parse("x", """
                step: [{in: &both [a.B.decode, a.B.prefill], kv: 3}, {in: a.B.chunk, prompt: true}]
                bricks: [{in: *both, call: norm 2, brick: RMS_NORM}]
                """);
        assertThat(rules.rules())
                .extracting(rule -> rule.kind() + " " + rule.target() + " " + rule.from() + " " + rule.isPrompt())
                .containsExactly(
                        "STEP a.B.decode entry false",
                        "STEP a.B.prefill entry false",
                        "STEP a.B.chunk entry true",
                        "BRICK a.B.decode before norm 2 false",
                        "BRICK a.B.prefill before norm 2 false");
    }

    /** Each kind of malformed rule beside one that is well-formed. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "step: {in: a.B.c, warmup: many}",
                "step: [{in: a.B.c, prompt: perhaps}]",
                "step: {in: a.B.c, output: -1}",
                "step:",
                "layer: {in: a.B.c, numbers: 1}",
                "tasks: {in: a.B.c}",
                "tasks: [{in: c}]",
                "brick: [{in: a.B.c, brick: RMS_NORM}]",
                "annotated: a.b",
                "annotated: [[a.b]]",
                "{bricks: [{brick: RMS_NORM}, GOOD]}",
                "{bricks: [{in: a.B.c}, GOOD]}",
                "{bricks: [{in: a.B.c, brick: QKV_PROJEKTION}, GOOD]}",
                "{bricks: [{in: a.B.c, brick: x, category: Atention}, GOOD]}",
                "{bricks: [{in: a.B.c, brick: RMS_NORM, category: FFN}, GOOD]}",
                "{bricks: [{in: a.B.c, call: f 0, brick: RMS_NORM}, GOOD]}",
                "{bricks: [{in: a.B.c, call: f, to: exit, brick: RMS_NORM}, GOOD]}",
                "{bricks: [{in: a.B.c, from: exit, brick: RMS_NORM}, GOOD]}",
                "{bricks: [{in: a.B.c, brick: RMS_NORM, elements: 7x}, GOOD]}",
                "{bricks: [{in: a.B.c, brik: RMS_NORM}, GOOD]}",
                "{bricks: [{in: [c, a.B.d], brick: RMS_NORM}]}",
                "{bricks: [a, GOOD]}",
            })
    void leavesOutOneMalformedRuleAndReadsTheOthers(String text) {
        String good = "{in: a.B.d, brick: RMS_NORM}";
        RuleFile.Rules rules = RuleFile.parse(
                "x", text.startsWith("{") ? text.replace("GOOD", good) : text + "\nbricks: [" + good + "]");
        assertThat(rules.rules())
                .singleElement()
                .hasToString(RuleFile.parse("x", "bricks: [" + good + "]")
                        .rules()
                        .get(0)
                        .toString()
                        .replace("line=1", "line=" + rules.rules().get(0).line()));
        assertThat(rules.problems()).singleElement().asString().startsWith("x:1: ");
        assertThat(rules.count()).isEqualTo(2);
        assertThat(rules.warmupSteps()).isZero();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "bricks: [{brick: RMS_NORM}]                        | x:1: in: is missing",
                "bricks: [{in: a.B.c}]                              | x:1: brick: is missing",
                "bricks: [{in: a.B.c, brick: QKV_PROJEKTION}]       | x:1: there is no brick 'QKV_PROJEKTION'; the closest that exist: QKV_PROJECTION,",
                "bricks: [{in: a.B.c, brick: x, category: Atention}] | x:1: there is no category 'Atention'; the closest that exist: Attention,",
                "bricks: [{in: a.B.c, brick: RMS_NORM, category: FFN}] | x:1: the brick RMS_NORM is of the category Norm",
                "bricks: [{in: c, brick: RMS_NORM}]                 | x:1: 'c' is not a method: write package.Class.method",
                "bricks: [{in: a.B.c(int, brick: RMS_NORM}]         | x:1: 'a.B.c(int' is not a method",
                "bricks: [{in: a.B.c, call: f 0, brick: RMS_NORM}]  | x:1: 'f 0': calls are counted from 1",
                "bricks: [{in: a.B.c, call: f g h, brick: RMS_NORM}] | x:1: 'f g h' is not a call: write NAME or NAME N",
                "bricks: [{in: a.B.c, call: f, to: exit, brick: RMS_NORM}] | x:1: call: replaces from: and to:",
                "bricks: [{in: a.B.c, from: exit, brick: RMS_NORM}] | x:1: 'exit' is not a place in a method: write entry, before NAME N",
                "bricks: [{in: a.B.c, to: entry, brick: RMS_NORM}]  | x:1: 'entry' is not a place in a method: write exit,",
                "bricks: [{in: a.B.c, brick: RMS_NORM, elements: -1}] | x:1: '-1' is not a number of elements",
                "bricks: [{in: a.B.c, brick: RMS_NORM, elements: 7x}] | x:1: '7x' is not a number of elements",
                "bricks: [{in: a.B.c, brik: RMS_NORM}]              | x:1: there is no 'brik:' here; the closest that exist: brick,",
                "bricks: [{in: a.B.c, in: a.B.d, brick: RMS_NORM}]  | x:1: ",
                "bricks: {in: a.B.c}                                | x:1: expected a list",
                "bricks: [a]                                        | x:1: expected lines of the form key: value",
                "bricks: [{in: {a: b}, brick: RMS_NORM}]            | x:1: expected a single value",
                "bricks: [{in: [], brick: RMS_NORM}]                | x:1: in: is missing",
                "step: {in: a.B.c, prompt: yes}                     | x:1: 'yes' is neither true nor false",
                "step: {in: a.B.c, warmup: some}                    | x:1: 'some' is not a number of steps",
                "steps: {in: a.B.c}                                 | x:1: there is no 'steps:' here; the closest that exist: step,",
                "bricks: []                                         | x:1: there are no rules in it",
                "bricks: [                                          | x:",
            })
    void namesTheFaultAndItsPlace(String text, String message) {
        assertThatThrownBy(() -> RuleFile.parse("x", text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message.strip());
    }

    @ParameterizedTest
    @ValueSource(strings = {"jlama", "llama3", "jitllm", "gpullama3"})
    void readsTheRulesThatComeWithIt(String engine) throws IOException {
        RuleFile.Rules rules = RuleFile.read(
                Path.of("src", "main", "resources", "org", "brickprofiler", "agent", engine + ".yaml"), 0);
        assertThat(rules.problems()).isEmpty();
        assertThat(rules.rules()).extracting(WeaveRule::kind).contains(Kind.STEP, Kind.LAYER, Kind.TASK, Kind.BRICK);
    }

    @Test
    void namesTheLineOfAnError() {
        assertThat(RuleFile.parse("x", "bricks:\n  - in: a.B.c\n    brick: RMS_NORM\n  - in: a.B.c\n    brick: y\n")
                        .problems())
                .singleElement()
                .asString()
                .startsWith("x:5: there is no brick 'y'");
        assertThatThrownBy(() -> RuleFile.parse("x", "")).hasMessage("x: there are no rules in it");
        assertThatThrownBy(() -> RuleFile.read(Path.of("missing.yaml"), 0))
                .isInstanceOf(IOException.class)
                .hasMessage("cannot read missing.yaml: it does not exist");
    }

    @Test
    void readsOptions() {
        AgentOptions options = AgentOptions.parse("rules=a=b.yaml,html=x", Map.of());
        assertThat(options.rules()).isEqualTo(Path.of("a=b.yaml"));
        assertThat(options.html()).isEqualTo(Path.of("x"));
        assertThat(options.out()).isNull();
        assertThat(options.port()).isEmpty();
        assertThat(options.ab()).isEmpty();
        assertThat(AgentOptions.parse(
                        "port=0,ab=12,warmup=3,spans=acme,lines=on,async-profiler=on,sources=a;b=https://c", Map.of()))
                .isEqualTo(new AgentOptions(
                        Map.of(),
                        OptionalInt.of(0),
                        Optional.empty(),
                        OptionalLong.of(12),
                        OptionalInt.of(3),
                        Optional.of("acme"),
                        true,
                        true,
                        List.of("a", "b=https://c"),
                        Optional.empty()));
        assertThat(AgentOptions.parse("lines=off", Map.of()).asksForRecording()).isFalse();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AgentOptions.parse("lines=fast", Map.of()))
                .withMessage("lines=fast is neither on nor off");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> AgentOptions.parse("sources=a,lines=off", Map.of()))
                .withMessage("sources=a makes lines into links: it needs lines=on, and a page");
        assertThat(AgentOptions.parse("slow=s.pftrace", Map.of()).timeline()).isEqualTo(Path.of("s.pftrace"));
        assertThat(AgentOptions.parse("trace=t.json", Map.of()).timeline()).isEqualTo(Path.of("t.json"));
        assertThat(AgentOptions.parse("", Map.of(AgentOptions.OUT_VARIABLE, "y"))
                        .out())
                .isEqualTo(Path.of("y"));
        assertThat(AgentOptions.parse("out=z", Map.of(AgentOptions.OUT_VARIABLE, "y"))
                        .out())
                .isEqualTo(Path.of("z"));
    }

    /** The brick is timed in each case; a faulty work of another rule changes nothing. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{matmul: [1, 2, 3]} | weight:, the type of the weights, is missing in work:",
                "{weight: F16} | matmul: [rows, columns, vectors] is missing in work:",
                "{matmul: [1], weight: F16} | matmul: has 1 numbers instead of rows, columns and vectors",
                "{matmul: [1, -2], weight: F16} | '-2' is not a number of elements",
                "{matmul: [1, 2], weight: Q9_0} | there is no type 'Q9_0'; the closest that exist: Q4_0, Q5_0, Q8_0; or write the bits",
                "{matmul: [1, 2], weight: 65} | a number does not take 65 bits",
                "{matmul: [1, 2], weight: F16, times: 0} | '0' is not a number above 0",
                "{matmul: [1, 2], weight: F16, activation: a.type} | 'a.type' is neither a type of numbers, such as F32, nor bits",
                "{matmul: [1, 2], weight: a.type, bits: {Q4: many}} | 'many' is neither a type of numbers nor bits",
                "{matmul: [1, 2], weight: a.type, bits: 4} | expected {VALUE: BITS, ...}",
                "{matmul: [1, 2], weigth: F16} | there is no 'weigth:' here; the closest that exist: weight, bits, times; there are",
                "4 | expected lines of the form key: value",
            })
    void refusesFaultyWorkAndKeepsTheBrick(String work, String message) {
        RuleFile.Rules rules = RuleFile.parse("x", """
                bricks:
                  - {in: a.B.c, brick: RMS_NORM, work: %s}
                  - {in: a.B.d, brick: RESIDUAL_ADD, work: {matmul: [1, 2], weight: 4.5}}
                """.formatted(work));
        assertThat(rules.problems())
                .singleElement()
                .asString()
                .startsWith("x:2: ")
                .contains(message);
        assertThat(rules.rules()).hasSize(2).hasSize(rules.count());
        assertThat(rules.rules().get(0).product().orElseThrow().shape()).isEmpty();
        assertThat(rules.rules().get(1).product().orElseThrow().weight().path()).hasToString("90000");
    }

    @Spec("25.23")
    @ParameterizedTest
    @ValueSource(strings = {"7", "result.id"})
    void refusesIdsThatNameNoRequestAtItsBeginning(String id) {
        RuleFile.Rules rules = RuleFile.parse("x", """
                step: {in: a.B.c}
                request: {in: a.B.d, id: %s}
                """.formatted(id));
        assertThat(rules.problems())
                .singleElement()
                .asString()
                .startsWith("x:2: '" + id + "' is no id that differs by request and is known at its beginning");
    }

    @Spec("25.28")
    @Test
    void refusesAModelThatIsNotKnownAtTheBeginning() {
        assertThat(RuleFile.parse("x", """
                step: {in: a.B.c}
                request: {in: a.B.d, model: result.model}
                """).problems())
                .singleElement()
                .asString()
                .startsWith("x:2: 'result.model' is no model that is known at the beginning of a request");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "vocab: 9| | vocab: is missing in model:",
                "dim: 8|dim: 8.5 | '8.5' is not a number of elements",
                "weight: F16|weight: F15 | there is no type 'F15'",
                "heads: 2|heads: 2, batch: 4 | there is no 'batch:' here",
                "step: {in: a.B.c, kv: pos}| | this model: does not apply: there is no step:, whose work it would be",
                "layer: {in: a.B.l}| | this model: does not apply: there is no layer:, which tells how often its bricks ran",
                "kv: pos|tokens: 1 | this model: does not apply: neither it nor each step: has kv:",
            })
    void refusesModelsThatCannotWork(String part, String instead, String message) {
        RuleFile.Rules rules = RuleFile.parse(
                "x", """
                step: {in: a.B.c, kv: pos}
                layer: {in: a.B.l}
                model: {in: a.B.c, layers: 2, dim: 8, heads: 2, kvHeads: 1, ffnDim: 16, weight: F16, vocab: 9}
                bricks: [{in: a.B.d, brick: RMS_NORM}]
                """.replace(part.strip(), instead == null ? "" : instead).replace(", }", "}"));
        assertThat(rules.problems()).anyMatch(each -> each.contains(message));
        assertThat(rules.rules())
                .noneMatch(rule -> rule.kind() == Kind.MODEL)
                .anyMatch(rule -> rule.kind() == Kind.BRICK);
    }

    @Test
    void aModelDoesNotApplyToStepsOfSeveralRequests() {
        RuleFile.Rules rules = RuleFile.parse("x", """
                step: {in: a.B.c, kv: pos}
                layer: {in: a.B.l}
                model: {in: a.B.c, layers: 2, dim: 8, heads: 2, kvHeads: 1, ffnDim: 16, weight: F16, vocab: 9}
                requests:
                  arrived: {in: a.R.<init>, request: this, prompt: n}
                  inStep: {in: a.B.add, request: r, prompt: n}
                  finished: {in: a.B.end, request: r}
                """);
        assertThat(rules.problems())
                .containsExactly(
                        "x:3: this model: does not apply: a step works on several requests, of which it knows only"
                                + " the sum of their positions");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "rules",
                "rules=",
                "rules=a,rules=b",
                "rules=a,",
                "file=a",
                "port=",
                "port=x",
                "port=65536",
                "ab=-1",
                "ab=1.5",
                "warmup=-1",
                "warmup=2147483648",
                "out=run.html",
                "out=run.pftrace",
                "out=run.json.gz",
                "html=run.json",
                "html=run.PFTRACE",
                "snapshot=x.pftrace.gz",
                "snapshot=x.csv",
                "snapshot=x",
                "trace=a.json,slow=b.json"
            })
    void refusesOptions(String text) {
        assertThatThrownBy(() -> AgentOptions.parse(text, Map.of())).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"port=1", "spans=acme", "recording=on", "out=FILE"})
    void anOptionWithoutAValueNamesOneThatItTakes(String example) {
        String key = example.substring(0, example.indexOf('='));
        assertThatThrownBy(() -> AgentOptions.parse(key, Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageEndingWith("needs a value, as in " + example);
        assertThat(AgentOptions.parse(example, Map.of())).isNotEqualTo(AgentOptions.parse("", Map.of()));
    }

    @Test
    void reportsNeedFilesOfTheirOwn(@TempDir Path folder) throws IOException {
        Path rules = Files.writeString(folder.resolve("bricks.yaml"), "bricks: []");
        Path link = Files.createSymbolicLink(folder.resolve("link.yaml"), rules);
        Path run = folder.resolve("run.json");
        Path detour = folder.resolve("none").resolve("..").resolve("run.json");
        String given = "rules=" + rules;
        for (String same : List.of(
                "out=" + run + ",html=" + run,
                "html=" + run + ",trace=" + detour,
                "html=" + run + ",slow=" + detour,
                "out=" + link)) {
            assertThatThrownBy(() -> AgentOptions.parse(given + "," + same, Map.of()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(" are one file; each needs a file of its own");
        }
        Map<String, String> variable = Map.of(AgentOptions.OUT_VARIABLE, run.toString());
        assertThatThrownBy(() -> AgentOptions.parse(given + ",html=" + run, variable))
                .hasMessageContaining("are one file");
        assertThat(AgentOptions.parse(given + ",out=" + run, variable).out()).isEqualTo(run);
    }

    /** The running agent has its own rules and reports; the options of a snapshot do not name them. */
    @Test
    void aSnapshotReplacesNoFileOfTheRunningAgent(@TempDir Path folder) throws IOException {
        Path rules = Files.writeString(folder.resolve("rules.json"), "bricks: []");
        Path link = Files.createSymbolicLink(folder.resolve("link.json"), rules);
        Path page = folder.resolve("run.html");
        AgentOptions running = AgentOptions.parse("rules=" + rules + ",html=" + page, Map.of());
        for (Path snapshot : List.of(rules, link, page, folder.resolve("none/../run.html"))) {
            assertThatThrownBy(() -> running.requireOther(snapshot, Map.of()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("are one file");
        }
        running.requireOther(folder.resolve("now.json"), Map.of());
        assertThat(AgentOptions.isPage(Path.of("NOW.HTML"))).isTrue();
        assertThat(AgentOptions.isPage(Path.of("now.json"))).isFalse();
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void rulesAreReadFromBoundedRegularFilesOnly(@TempDir Path folder) throws IOException {
        assertThatThrownBy(() -> RuleFile.read(Path.of("/dev/zero"), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("/dev/zero is a device or a pipe, and rules are read from regular files only");
        assertThatThrownBy(() -> RuleFile.read(folder, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is a folder");
        Path large = Files.writeString(folder.resolve("large.yaml"), "#".repeat(10_000_001));
        assertThatThrownBy(() -> RuleFile.read(large, 0)).hasMessageContaining("more than 10000000 bytes are too many");
        Path binary = Files.write(folder.resolve("binary.yaml"), new byte[] {'#', (byte) 0xff});
        assertThatThrownBy(() -> RuleFile.read(binary, 0)).hasMessageContaining("it is no text in UTF-8");
    }

    /** The recipes for servers; those of objects go together with the rules before them. */
    @Test
    void theRecipesOfTheAgentsPageAreRules() throws IOException {
        String page = Files.readString(SourceTree.path("docs", "AGENT.md"));
        List<String> recipes = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL)
                .matcher(page)
                .results()
                .map(block -> block.group(1))
                .filter(block -> block.contains("Tokenizer") || block.contains("Job"))
                .toList();
        assertThat(recipes).hasSize(2);
        RuleFile.Rules server = RuleFile.parse("server", recipes.get(0));
        assertThat(server.problems()).isEmpty();
        assertThat(server.rules())
                .filteredOn(rule -> rule.kind() == WeaveRule.Kind.REQUEST)
                .extracting(WeaveRule::arrival)
                .containsExactly("the call of Server.complete", "the call of Llama.generate");
        RuleFile.Rules pool =
                RuleFile.parse("pool", "step:\n  in: com.example.Llama.forward\n  tokens: 1\n" + recipes.get(1));
        assertThat(pool.problems()).isEmpty();
        assertThat(pool.rules())
                .filteredOn(rule -> rule.kind() == WeaveRule.Kind.ARRIVAL)
                .extracting(WeaveRule::arrival)
                .containsExactly("the call of Job.<init>");
    }
}
