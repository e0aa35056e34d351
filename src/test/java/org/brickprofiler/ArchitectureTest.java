package org.brickprofiler;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTag;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.junit.LocationProvider;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.brickprofiler.testing.OneJdk;

/**
 * Checks which package of the library may depend on which; the compiler keeps the walls between the projects.
 *
 * <p>Three layers, and every dependency points down: outer (uses of results), core (the root package and the access to
 * it), ground (small tools without a notion of bricks). A rule that applies to no class fails. A package that is named
 * here but does not exist fails the test, too.
 */
@AnalyzeClasses(locations = ArchitectureTest.Compiled.class)
@OneJdk
@ArchTag("one-jdk") // ArchUnit does not read the tags of JUnit
final class ArchitectureTest {
    private static final String ROOT = "org.brickprofiler";

    /** The packages that the rules are about. */
    private static final Set<String> NAMED = new TreeSet<>();

    private static final DescribedPredicate<JavaClass> OURS =
            resideInAPackage(ROOT + "..").as("are of this library");

    private static final DescribedPredicate<JavaClass> REPORT = inPackage("report");
    private static final DescribedPredicate<JavaClass> KERNEL = inPackage("kernel");
    private static final DescribedPredicate<JavaClass> EXPORT = inPackage("export");

    private static final DescribedPredicate<JavaClass> OUTER =
            REPORT.or(KERNEL).or(EXPORT).as("are in the outer layer");

    /** Access of outer packages to the root package, which grants it: both belong together. */
    private static final DescribedPredicate<JavaClass> ACCESS = inPackage("internal.access");

    private static final DescribedPredicate<JavaClass> CORE =
            resideInAPackage(ROOT).or(ACCESS).as("are in the core");

    private static final DescribedPredicate<JavaClass> SPI = inPackage("spi");
    private static final DescribedPredicate<JavaClass> IO = inPackage("internal.base")
            .or(inPackage("internal.io"))
            .or(inPackage("internal.setting"))
            .or(inPackage("internal.mark"))
            .as("are the basics: tools, files, settings, marks");
    private static final DescribedPredicate<JavaClass> RECORD = inPackage("internal.record");
    private static final DescribedPredicate<JavaClass> STATS = inPackage("stats");
    private static final DescribedPredicate<JavaClass> REQUEST = inPackage("request");
    private static final DescribedPredicate<JavaClass> TILE = inPackage("tile");
    private static final DescribedPredicate<JavaClass> DEVICE = inPackage("device");
    private static final DescribedPredicate<JavaClass> MARKS = inPackage("internal.device");
    private static final DescribedPredicate<JavaClass> GRAPH = inPackage("graph");
    private static final DescribedPredicate<JavaClass> CHECKSUM = inPackage("checksum");

    private static final DescribedPredicate<JavaClass> TOOLS =
            TILE.or(DEVICE).or(MARKS).or(GRAPH).or(CHECKSUM).or(REQUEST).as("are a tool of the ground layer");

    private static final DescribedPredicate<JavaClass> GROUND =
            SPI.or(IO).or(RECORD).or(STATS).or(TOOLS).as("are in the ground layer");

    @ArchTest
    static final ArchRule everyClassBelongsToALayer =
            classes().should(be(OUTER.or(CORE).or(GROUND).as("in one of the three layers")));

    @ArchTest
    static final ArchRule groundKnowsNothingAboveIt =
            noClasses().that(GROUND).should().dependOnClassesThat(CORE.or(OUTER).as("are above the ground layer"));

    @ArchTest
    static final ArchRule coreKnowsTheGroundOnly =
            noClasses().that(CORE).should().dependOnClassesThat(OUTER);

    @ArchTest
    static final ArchRule noCircleBetweenPackages =
            slices().assignedFrom(new EachPackage()).should().beFreeOfCycles();

    @ArchTest
    static final ArchRule spiAndIoKnowNothingAboveThem = noClasses()
            .that(SPI.or(IO).as("are in spi or the basics"))
            .should()
            .dependOnClassesThat(RECORD.or(TOOLS).as("are above them"));

    @ArchTest
    static final ArchRule recordingKnowsNoTool =
            noClasses().that(RECORD).should().dependOnClassesThat(TOOLS);

    @ArchTest
    static final ArchRule streamsDoNotKnowWhoTimesThem =
            noClasses().that(DEVICE).should().dependOnClassesThat(MARKS);

    @ArchTest
    static final ArchRule tilesStandAlone = standsAlone(TILE, TOOLS);

    @ArchTest
    static final ArchRule devicesStandAlone = standsAlone(DEVICE.or(MARKS), TOOLS);

    @ArchTest
    static final ArchRule graphsStandAlone = standsAlone(GRAPH, TOOLS);

    @ArchTest
    static final ArchRule checksumsStandAlone = standsAlone(CHECKSUM, TOOLS);

    @ArchTest
    static final ArchRule requestsStandAlone = standsAlone(REQUEST, TOOLS);

    @ArchTest
    static final ArchRule statisticsKnowNoTool =
            noClasses().that(STATS).should().dependOnClassesThat(TOOLS);

    @ArchTest
    static final ArchRule exportKnowsReportsOnly = standsAlone(EXPORT, OUTER.and(not(REPORT)));

    @ArchTest
    static final ArchRule kernelStandsAlone = standsAlone(KERNEL, OUTER);

    /** Reports show the results of kernels, and write no windows. */
    @ArchTest
    static final ArchRule reportsKnowWhatTheyShow = standsAlone(REPORT, OUTER.and(not(KERNEL)));

    @ArchTest
    static final ArchRule coreAndGroundUseFewLibraries = classes()
            .that(CORE.or(GROUND).as("are in the core or the ground layer"))
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage("java..", "org.jspecify..", ROOT + ".."));

    /** The log prints where no logger of the platform can. */
    @ArchTest
    static final ArchRule onlyTheLogPrints =
            noClasses().that().doNotHaveSimpleName("Log").should(ACCESS_STANDARD_STREAMS);

    @ArchTest
    static void everyPackageThatIsNamedExists(JavaClasses classes) {
        assertThat(NAMED)
                .filteredOn(name -> classes.stream().noneMatch(inPackage(name)))
                .as("packages without a class")
                .isEmpty();
    }

    private static DescribedPredicate<JavaClass> inPackage(String name) {
        NAMED.add(name);
        return resideInAPackage(ROOT + "." + name + "..").as("are in the package " + name);
    }

    private static ArchRule standsAlone(DescribedPredicate<JavaClass> one, DescribedPredicate<JavaClass> layer) {
        return noClasses()
                .that(one)
                .should()
                .dependOnClassesThat(layer.and(not(one)).as("are beside it"));
    }

    /** One slice per package; the root package and the access to it are one slice. */
    private static final class EachPackage implements SliceAssignment {
        @Override
        public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
            if (!OURS.test(javaClass)) {
                return SliceIdentifier.ignore();
            }
            return SliceIdentifier.of(ACCESS.test(javaClass) ? ROOT : javaClass.getPackageName());
        }

        @Override
        public String getDescription() {
            return "each package";
        }
    }

    /** The folder of the compiled library, without the tests. */
    static final class Compiled implements LocationProvider {
        @Override
        public Set<Location> get(Class<?> testClass) {
            return Set.of(Location.of(Path.of("target", "classes")));
        }
    }
}
