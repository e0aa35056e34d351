package org.brickprofiler;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toCollection;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.Test;

/** Compares the documents with the sources: entry points, settings, the types of the map, and links. */
@OneJdk
final class DocumentsTest {

    private static final Path TOP = SourceTree.path("");
    private static final Path DOCS = TOP.resolve("docs");
    private static final Path MAP = DOCS.resolve("ARCHITECTURE.md");

    private static final Pattern SOURCES = Pattern.compile(".*/src/main/.*\\.java");

    private static final Pattern EXPORT = Pattern.compile("exports ([\\w.]+);");
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package ([\\w.]+);");
    private static final Pattern TYPE =
            Pattern.compile("(?m)^public (?:final |sealed )?(class|record|interface) (\\w+)\\b");
    private static final Pattern STATIC_METHOD =
            Pattern.compile("(?m)^    public static (?!final |abstract |class |record |interface |enum )[^=;(]*\\(");

    private static final Pattern STATIC_OF_INTERFACE = Pattern.compile("(?m)^    static [^=;(]*\\(");

    /** The text of code spans and code blocks. */
    private static final Pattern CODE = Pattern.compile("(?ms)^```.*?^```|`[^`\\n]+`");

    private static final Pattern LINK = Pattern.compile("(?<!!)\\[[^\\]]*\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

    /** The full name of a setting in the source. */
    private static final Pattern PROPERTY = Pattern.compile("\"(brick\\.(?:profiler|duckdb)(?:\\.[a-z_]+)*)\"");

    private static final Pattern VARIABLE = Pattern.compile("\"(BRICK_[A-Z_]*[A-Z])\"");

    /** The key of a setting, where the name is made of a prefix and the key. */
    private static final Pattern KEY =
            Pattern.compile("(?:ofProfiler|\\btext|\\bnumber)\\(\"([a-z_]+)\"| String [A-Z_]+ = \"([a-z_]+)\";");

    /** The files whose constants are keys of settings. */
    private static final Set<String> WITH_KEYS = Set.of("SettingAction.java", "ShortBricks.java");

    /** The files that read settings by their keys. */
    private static final Pattern READS_KEYS = Pattern.compile("Settings\\.ofProfiler\\(\"|class LaunchSettings");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `(brick[a-z._]+)` \\| (?:`(BRICK[A-Z_]+)`|—) \\| \\S");

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the texts of all sources apart from tests, by file. */
    private static Map<Path, String> sources() {
        Map<Path, String> sources = new TreeMap<>();
        SourceTree.javaFiles().stream()
                .filter(file -> SOURCES.matcher(file.toString()).matches())
                .forEach(file -> sources.put(file, read(file)));
        assertThat(sources).isNotEmpty();
        return sources;
    }

    private static Stream<Path> documents() throws IOException {
        try (Stream<Path> files = Files.walk(DOCS)) {
            return Stream.concat(
                    Stream.of(TOP.resolve("README.md"), TOP.resolve("CONTRIBUTING.md")),
                    files.filter(file -> file.toString().endsWith(".md")))
                    .toList()
                    .stream();
        }
    }

    /** Returns the code in the documents that lead a user: not in the rules, the map, the benchmarks. */
    private static String codeForUsers() throws IOException {
        Set<String> others = Set.of("ARCHITECTURE.md", "BENCHMARKS.md", "CONTRIBUTING.md");
        return documents()
                .filter(file -> !file.startsWith(DOCS.resolve("spec"))
                        && !others.contains(file.getFileName().toString()))
                .flatMap(file -> CODE.matcher(read(file)).results().map(MatchResult::group))
                .collect(joining("\n"));
    }

    /**
     * Returns the exported types that a program constructs, or whose static methods it calls. The constructors of
     * records are not counted: most records are results.
     */
    private static Set<String> entryPoints() {
        Map<Path, String> sources = sources();
        Set<String> exported = sources.entrySet().stream()
                .filter(source -> source.getKey().endsWith("module-info.java"))
                .flatMap(source -> EXPORT.matcher(source.getValue()).results().map(export -> export.group(1)))
                .collect(toSet());
        Set<String> types = new TreeSet<>();
        sources.values().stream()
                .filter(text ->
                        PACKAGE.matcher(text).results().anyMatch(declared -> exported.contains(declared.group(1))))
                .forEach(text -> TYPE.matcher(text)
                        .results()
                        .filter(type -> isEntry(type.group(1), type.group(2), text))
                        .forEach(type -> types.add(type.group(2))));
        return types;
    }

    private static boolean isEntry(String kind, String name, String text) {
        return switch (kind) {
            case "class" ->
                !name.endsWith("Exception")
                        && (text.contains("\n    public " + name + "(")
                                || STATIC_METHOD.matcher(text).find());
            case "record" -> STATIC_METHOD.matcher(text).find();
            default -> STATIC_OF_INTERFACE.matcher(text).find();
        };
    }

    private static boolean hasWord(String text, String word) {
        return Pattern.compile("\\b" + word + "\\b").matcher(text).find();
    }

    private static Set<String> settings() {
        Set<String> names = new TreeSet<>();
        sources().forEach((file, text) -> {
            PROPERTY.matcher(text).results().forEach(name -> names.add(name.group(1)));
            if (WITH_KEYS.contains(file.getFileName().toString())
                    || READS_KEYS.matcher(text).find()) {
                KEY.matcher(text)
                        .results()
                        .forEach(key ->
                                names.add("brick.profiler." + (key.group(1) == null ? key.group(2) : key.group(1))));
            }
        });
        return names;
    }

    private static String settingsChapter() {
        String guide = read(DOCS.resolve("GUIDE.md"));
        int begin = guide.indexOf("\n## Settings\n");
        assertThat(begin).isPositive();
        int end = guide.indexOf("\n## ", begin + 1);
        return end < 0 ? guide.substring(begin) : guide.substring(begin, end);
    }

    private static String anchor(String heading) {
        return heading.toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }

    @Test
    void everyEntryPointIsInADocument() throws IOException {
        String code = codeForUsers();

        assertThat(entryPoints())
                .hasSizeGreaterThan(50)
                .filteredOn(name -> !hasWord(code, name))
                .as("exported types that a program constructs or calls, in no document for users")
                .isEmpty();
    }

    @Test
    void everySettingIsInTheTableAndNoOther() {
        String chapter = settingsChapter();
        Set<String> listed = Pattern.compile("`(brick[a-z._]+)`")
                .matcher(chapter)
                .results()
                .map(name -> name.group(1))
                .filter(name -> !name.equals("brick fleet"))
                .collect(toCollection(TreeSet::new));

        assertThat(listed).isEqualTo(settings());
    }

    @Test
    void everyVariableIsInTheTableBesideItsProperty() {
        Set<String> listed = new TreeSet<>();
        ROW.matcher(settingsChapter())
                .results()
                .filter(row -> row.group(2) != null)
                .forEach(row -> {
                    assertThat(row.group(2))
                            .isEqualTo(row.group(1).toUpperCase(Locale.ROOT).replace('.', '_'));
                    listed.add(row.group(2));
                });

        assertThat(sources().values().stream()
                        .flatMap(text -> VARIABLE.matcher(text).results().map(name -> name.group(1))))
                .isNotEmpty()
                .isSubsetOf(listed);
    }

    @Test
    void everyTypeOfTheMapExists() {
        Set<String> names = sources().keySet().stream()
                .map(file -> file.getFileName().toString().replace(".java", ""))
                .collect(toSet());

        assertThat(Pattern.compile("`([A-Z][a-z]\\w+)(?:\\.\\w+)?`")
                        .matcher(read(MAP))
                        .results())
                .hasSizeGreaterThan(20)
                .extracting(type -> type.group(1))
                .filteredOn(type -> !type.endsWith("Test") && !type.endsWith("Contract"))
                .as("types that the map names and no source has")
                .isSubsetOf(names);
    }

    @Test
    void everyLinkLeadsSomewhere() throws IOException {
        List<String> broken = new ArrayList<>();
        documents().forEach(document -> LINK.matcher(
                        CODE.matcher(read(document)).replaceAll("code"))
                .results()
                .map(link -> link.group(1))
                .filter(target -> !target.contains("://"))
                .forEach(target -> {
                    String[] parts = target.split("#", 2);
                    Path file = parts[0].isEmpty() ? document : document.resolveSibling(parts[0]);
                    if (!Files.exists(file)
                            || (parts.length > 1
                                    && HEADING.matcher(read(file)).results().noneMatch(heading -> anchor(
                                                    heading.group(1))
                                            .equals(parts[1])))) {
                        broken.add(TOP.relativize(document) + ": " + target);
                    }
                }));

        assertThat(broken).isEmpty();
    }
}
