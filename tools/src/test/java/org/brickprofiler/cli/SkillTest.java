package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.brickprofiler.roofline.RooflineReport;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The commands and fields of {@code docs/SKILL.md} exist. */
@OneJdk
final class SkillTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Pattern COMMAND = Pattern.compile("(?m)(?:^ +|`)brick ([a-z]+)([^|`>\\n]*)");
    private static final Pattern OPTION = Pattern.compile(" (--?[a-z][a-z-]*)");

    /** An object that jq makes of fields. */
    private static final Pattern OBJECT = Pattern.compile("\\{([\\w, :.]+)}");

    @TempDir
    Path folder;

    @Test
    void itsCommandsHaveTheseOptions() throws Exception {
        Map<String, CommandLine> commands = Brick.commandLine().getSubcommands();
        List<MatchResult> named = COMMAND.matcher(skill()).results().toList();
        assertThat(named).hasSizeGreaterThan(7);
        for (MatchResult command : named) {
            CommandLine known = Objects.requireNonNull(commands.get(command.group(1)), command.group());
            assertThat(known.getCommandSpec().optionsMap().keySet())
                    .as(command.group())
                    .containsAll(OPTION.matcher(command.group(2))
                            .results()
                            .map(option -> option.group(1))
                            .toList());
        }
    }

    @Test
    void theJsonHasTheseFields() throws Exception {
        Path roof = folder.resolve("roof.json");
        Path run = folder.resolve("run.json");
        RooflineReport.write(RooflineCommandTest.roof(1_000), roof);
        String tiny =
                "demo --layers 1 --dim 16 --heads 2 --kv-heads 1 --ffn 32 --vocab 50 --tokens 3 --threads 1 --json ";
        assertThat(Cli.run((Object[]) (tiny + run).split(" ")).exitCode()).isZero();
        JsonNode profile = MAPPER.readTree(
                Cli.run("report", run, "--roofline", roof, "--json").out());
        JsonNode comparison =
                MAPPER.readTree(SourceTree.path("analysis/src/test/resources/org/brickprofiler/compare/comparison.json")
                        .toFile());

        List<List<String>> objects = OBJECT.matcher(skill())
                .results()
                .map(object -> Stream.of(object.group(1).split(", "))
                        .map(field -> field.replaceFirst(":.*", ""))
                        .toList())
                .toList();

        assertThat(objects).hasSize(4);
        JsonNode brick = profile.get("bricks").get(0);
        assertThat(brick.get("latency").has("p50_us")).isTrue();
        assertThat(fields(profile.get("bricks"))).containsAll(objects.get(0).subList(0, 5));
        assertThat(objects.get(0).subList(5, 6)).containsExactly("p50_us");
        assertThat(fields(profile.get("roofline").get("bricks"))).containsAll(objects.get(1));
        assertThat(fields(profile.get("findings"))).contains("sentence", "next");
        assertThat(profile.get("roofline").has("unplaced")).isTrue();
        assertThat(fields(comparison)).containsAll(objects.get(2));
        assertThat(fields(comparison.get("lines"))).containsAll(objects.get(3));
        assertThat(comparison.get("lines").findValuesAsText("verdict")).contains("faster", "slower", "no_difference");
        assertThat(comparison.get("lines").findValuesAsText("kind")).contains("total", "brick");
        assertThat(comparison.get("lines").findValues("beside_others"))
                .allMatch(change -> change.has("low_pct") && change.has("high_pct"));
    }

    /** Returns the fields of an object, or of any object of a list. */
    private static Set<String> fields(JsonNode node) {
        Set<String> fields = new TreeSet<>();
        (node.isArray() ? node : List.of(node))
                .forEach(each -> each.fieldNames().forEachRemaining(fields::add));
        return fields;
    }

    private static String skill() throws Exception {
        return Files.readString(SourceTree.path("docs", "SKILL.md"));
    }
}
