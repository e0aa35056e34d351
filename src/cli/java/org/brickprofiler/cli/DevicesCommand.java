package org.brickprofiler.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.brickprofiler.device.cuda.CudaSupport;
import org.brickprofiler.device.metal.MetalSupport;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the devices that can be timed. */
@Command(
        name = "devices",
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Lists the devices whose work can be timed, and for each kind without one the reason. "
                + "Exit code 0 if there is a device, 1 if there is none.",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  Can this machine's GPUs be timed?",
            "    brick devices",
            "  Decode on the first of them:",
            "    brick demo --device cuda:0 --layers 4 --tokens 200"
        })
final class DevicesCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    /**
     * One kind of devices.
     *
     * @param found what there is, or why there is nothing
     * @param option what the demonstration calls its devices, without their numbers
     * @param names the devices
     */
    private record Kind(String found, String option, List<String> names) {

        static Kind cuda() {
            CudaSupport support = CudaSupport.probe();
            return new Kind(support.toString(), "cuda", support.deviceNames());
        }

        static Kind metal() {
            MetalSupport support = MetalSupport.probe();
            return new Kind(
                    support.toString(), "metal", support.deviceName().stream().toList());
        }
    }

    /** All kinds there are: a further one is a line here. */
    private static List<Kind> kinds() {
        return List.of(Kind.cuda(), Kind.metal());
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        boolean any = false;
        for (Kind kind : kinds()) {
            out.println(kind.found());
            for (int number = 0; number < kind.names().size(); number++) {
                out.println("  " + kind.option() + ":" + number + "  "
                        + kind.names().get(number));
                any = true;
            }
        }
        out.flush();
        return any ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
}
