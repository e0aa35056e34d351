package org.brickprofiler.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.report.Finding.Kind;

/**
 * The findings of a profile: at most {@value #MOST} sentences, ranked. Reasons to doubt the whole profile come first,
 * then findings on requests, then those on wall time and bricks, each by their share; communication, whose cause may be
 * among these, and the largest brick are the last ones. Candidates with a share below five percent are left out. Static
 * methods only; any thread.
 */
public final class Findings {

    /** The most findings of a profile. */
    public static final int MOST = 5;

    /** The share below which a candidate is left out. */
    static final double LEAST_SHARE = 0.05;

    /** The share of brick time from which the largest brick is a finding by itself. */
    private static final double LARGE = 0.5;

    private static final int COLUMNS = 100;
    private static final String INDENT = "    ";

    private static final Comparator<Finding> ORDER = Comparator.<Finding>comparingInt(finding -> group(finding.kind()))
            .thenComparing(Comparator.comparingDouble(Finding::share).reversed())
            .thenComparing(Finding::kind)
            .thenComparing(Finding::place);

    private Findings() {}

    /**
     * Returns the findings of a profile.
     *
     * @param snapshot the profile
     * @param sources further sources of candidates
     * @return at most {@value #MOST} findings, the most important first; empty if the profile has no samples and no
     *     requests
     */
    public static List<Finding> of(ProfileSnapshot snapshot, FindingSource... sources) {
        Objects.requireNonNull(snapshot, "snapshot");
        Objects.requireNonNull(sources, "sources");
        List<Finding> ranked = ranked(
                Stream.concat(Arrays.stream(sources), Stream.of(new SnapshotFindings()))
                        .flatMap(source -> source.candidates(snapshot).stream())
                        .toList(),
                SnapshotFindings.isRecorded(snapshot));
        return ranked.stream().map(finding -> explained(finding, sources)).toList();
    }

    private static Finding explained(Finding finding, FindingSource... sources) {
        Finding explained = finding;
        for (FindingSource source : sources) {
            explained = source.explained(explained);
        }
        return explained;
    }

    /**
     * Returns the findings among the candidates for something else than one profile, such as a fleet.
     *
     * @param candidates the candidates, in any order
     * @param isComplete whether the candidates cover everything that can stand out. If so, and none does, the finding
     *     is that nothing stands out
     * @return at most {@value #MOST} findings, the most important first
     */
    public static List<Finding> ranked(List<Finding> candidates, boolean isComplete) {
        List<Finding> ranked = candidates.stream()
                .filter(finding -> finding.share() >= LEAST_SHARE
                        || isDoubt(finding.kind())
                        || finding.kind() == Kind.LARGEST_BRICK)
                .sorted(ORDER)
                .filter(distinct())
                .toList();
        List<Finding> found = new ArrayList<>(ranked.stream()
                .filter(finding -> finding.kind() != Kind.LARGEST_BRICK)
                .toList());
        Optional<Finding> largest = ranked.stream()
                .filter(finding -> finding.kind() == Kind.LARGEST_BRICK)
                .findFirst();
        boolean hasOnlyDoubts = found.stream().allMatch(finding -> isDoubt(finding.kind()));
        if (hasOnlyDoubts
                && isComplete
                && largest.filter(brick -> brick.share() < LARGE).isPresent()) {
            found.add(nothing(largest.get()));
        } else {
            Optional<Finding> last = largest.filter(brick -> brick.share() >= LEAST_SHARE);
            while (found.size() > (last.isPresent() ? MOST - 1 : MOST)) {
                found.remove(found.size() - 1);
            }
            last.ifPresent(found::add);
        }
        return List.copyOf(found);
    }

    /** Accepts the first finding of each kind at a place: several sources may see the same time. */
    private static Predicate<Finding> distinct() {
        Set<List<Object>> seen = new HashSet<>();
        return finding -> seen.add(List.of(finding.kind(), finding.place()));
    }

    /** Returns the finding that nothing stands out; it names the largest brick. */
    private static Finding nothing(Finding largest) {
        return new Finding(
                Kind.NOTHING, largest.place(), 0, "Nothing stands out: " + largest.sentence(), largest.next());
    }

    private static boolean isDoubt(Kind kind) {
        return kind == Kind.TOO_SHORT || kind == Kind.DISTURBED;
    }

    private static int group(Kind kind) {
        if (isDoubt(kind)) {
            return 0;
        }
        return switch (kind) {
            case REQUESTS_QUEUE, REQUESTS_STALL, REQUESTS_WAIT, OWN_WORK, DELIVERY -> 1;
            case COMMUNICATION -> 3;
            case LARGEST_BRICK -> 4;
            default -> 2;
        };
    }

    /**
     * Returns findings as the last lines of a text of {@value #COLUMNS} columns.
     *
     * @param findings the findings, from {@link #of}
     * @return numbered lines, and one next step: that of the first finding that has one, where a disturbance comes
     *     after what there is to win; empty without findings
     */
    public static String text(List<Finding> findings) {
        return text(findings, COLUMNS);
    }

    /**
     * Returns findings as the last lines of a text.
     *
     * @param findings the findings, from {@link #of}
     * @param columns the most columns of a line with more than one word
     * @return numbered lines, and one next step: that of the first finding that has one, where a disturbance comes
     *     after what there is to win; empty without findings
     */
    public static String text(List<Finding> findings, int columns) {
        if (findings.isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder("\nFindings\n");
        for (int i = 0; i < findings.size(); i++) {
            wrapped(text, " " + (i + 1) + "  ", findings.get(i).sentence(), columns);
        }
        next(findings).ifPresent(next -> wrapped(text, "Next: ", next + ".", columns));
        return text.toString();
    }

    /** Returns the next step of the first finding that has one; a disturbance comes after what there is to win. */
    private static Optional<String> next(List<Finding> findings) {
        List<Finding> withNext =
                findings.stream().filter(finding -> !finding.next().isEmpty()).toList();
        return withNext.stream()
                .filter(finding -> finding.kind() != Kind.DISTURBED
                        && finding.kind() != Kind.NOTHING
                        && finding.kind() != Kind.LARGEST_BRICK)
                .findFirst()
                .or(() -> withNext.stream().findFirst())
                .map(Finding::next);
    }

    private static void wrapped(StringBuilder text, String start, String sentence, int columns) {
        StringBuilder line = new StringBuilder(start);
        boolean isEmpty = true;
        for (String word : PlainText.ascii(sentence).split(" ", -1)) {
            if (!isEmpty && line.length() + 1 + word.length() > columns) {
                text.append(line).append('\n');
                line.setLength(0);
                line.append(INDENT);
                isEmpty = true;
            }
            line.append(isEmpty ? "" : " ").append(word);
            isEmpty = false;
        }
        text.append(line).append('\n');
    }

    /**
     * Returns findings as values of a JSON report.
     *
     * @param findings the findings, from {@link #of}
     * @return a map for each finding, whose keys are those of docs/format.md
     */
    public static List<Map<String, Object>> values(List<Finding> findings) {
        return findings.stream().map(Findings::values).toList();
    }

    private static Map<String, Object> values(Finding finding) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("kind", finding.kind().name().toLowerCase(Locale.ROOT));
        if (!finding.place().isEmpty()) {
            values.put("place", finding.place());
        }
        values.put("share", finding.share());
        values.put("of", finding.kind().of());
        values.put("sentence", finding.sentence());
        if (!finding.next().isEmpty()) {
            values.put("next", finding.next());
        }
        return values;
    }
}
