package org.brickprofiler.compare;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.brickprofiler.compare.ComparisonStudy.Cell;
import org.brickprofiler.compare.RunComparison.Options;
import org.brickprofiler.compare.SimulatedRuns.Behaviour;
import org.brickprofiler.compare.SimulatedRuns.Change;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Comparisons under each kind of noise: a sample of those that {@link ComparisonStudy} counts at length. The seeds are
 * fixed, so a test gives one result. The bounds are those of few comparisons: if one of 40 raises an alarm by chance,
 * two of five do so with one seed of 170; if every second one did, most of the noises would show it.
 */
@OneJdk
class ComparisonNoiseTest {

    private static final int COMPARISONS = 5;
    private static final double MOST_ALARMS = 20;

    static Stream<Behaviour> eachNoise() {
        return Stream.of(Behaviour.EACH, Behaviour.EACH_SAMPLED).flatMap(List::stream);
    }

    @ParameterizedTest
    @MethodSource("eachNoise")
    void raisesFewAlarms(Behaviour behaviour) {
        assertThat(ComparisonStudy.cell(behaviour, COMPARISONS, 21, 10, 0, 1).alarms())
                .isLessThanOrEqualTo(MOST_ALARMS);
    }

    @Test
    void raisesFewAlarmsWithFewRuns() {
        assertThat(ComparisonStudy.cell(Behaviour.WIDE, COMPARISONS, 24, 5, 0, 0)
                        .alarms())
                .isLessThanOrEqualTo(MOST_ALARMS);
    }

    /** For each kind of noise, the least share of changes that is found, %. */
    @ParameterizedTest
    @CsvSource({
        "spread 1 %, 5, 100", "1 %; bimodal, 5, 100", "1 %; slow processes, 5, 100", "1 %; disturbed runs, 5, 100",
        "1 %; drift, 5, 100", "1 %; one run apart, 5, 100", "1 %; one run apart, 20, 100", "1 %; two runs apart, 5, 80",
        "1 %; t with 3 degrees, 5, 80", "samples; quiet, 5, 100", "samples; busy, 5, 100", "samples; gusty, 5, 100",
        "samples; storm, 5, 100"
    })
    void findsAChangeOfOneBrick(String noise, double slowerPercent, double least) {
        Cell cell = ComparisonStudy.cell(behaviour(noise), COMPARISONS, 31, 10, slowerPercent, 2);
        assertThat(cell.found()).isGreaterThanOrEqualTo(least);
        assertThat(cell.otherBricks()).isLessThanOrEqualTo(MOST_ALARMS);
    }

    private static Behaviour behaviour(String name) {
        return eachNoise()
                .filter(each -> each.name().equals(name.replace(';', ',')))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        "samples; quiet, 100, 100",
        "samples; busy, 100, 100",
        "samples; gusty, 100, 100",
        "samples; storm, 40, 0"
    })
    void findsLongerTails(String noise, double leastNear, double leastFar) {
        Behaviour behaviour = behaviour(noise);
        Options options = Options.defaults();
        assertThat(ComparisonStudy.cell(behaviour, COMPARISONS, 41, 10, Change.TAIL, options)
                        .found())
                .as("one in ten samples takes 1.5 times as long")
                .isGreaterThanOrEqualTo(leastNear);
        assertThat(ComparisonStudy.cell(behaviour, COMPARISONS, 42, 10, Change.FAR_TAIL, options)
                        .found())
                .as("one in fifty samples takes 3.5 times as long")
                .isGreaterThanOrEqualTo(leastFar);
    }

    @Test
    void aBaselineClearsBricksThatDidNotChange() {
        Change many = new Change(10, ComparisonStudy.MANY, 0, 1);
        Options beside = Options.defaults().withBaseline(ComparisonStudy.UNTOUCHED);
        Cell cell = ComparisonStudy.cell(Behaviour.QUIET, COMPARISONS, 51, 10, many, beside);
        assertThat(cell.found()).isEqualTo(100);
        assertThat(cell.otherBricks()).isLessThanOrEqualTo(MOST_ALARMS);
    }

    /** Here the floor decides whether a change counts. */
    @Test
    void aChangeOfTheSizeThatALineIsShownFromIsFoundInFourOfFive() {
        double smallest = ComparisonStudy.smallest(Behaviour.QUIET, COMPARISONS, 0, 20, 2);
        assertThat(smallest).isBetween(2.2, 2.6);
        assertThat(ComparisonStudy.cell(Behaviour.QUIET, 30, 61, 20, smallest, 2)
                        .found())
                .isBetween(60.0, 95.0);
    }
}
