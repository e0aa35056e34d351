package org.brickprofiler.internal.device;

/**
 * The bricks of some rows that have no marks, and the time that is estimated for them. Immutable.
 *
 * @param marked number of samples with marks
 * @param unmarked number of bricks without marks
 * @param elements elements of the bricks without marks
 * @param markedNs time of the samples with marks, ns
 * @param unmarkedNs estimated time of the bricks without marks, ns
 * @param variance of the estimate, ns²
 * @param openVariance the part of it that stems from the bricks since the last complete block, ns²
 * @param degreesOfFreedom of the variance; 0 if it is not known, and without such bricks
 * @param weightProducts the sum of w (w - 1) over the samples with marks, of which each stands for w bricks; 0 if it is
 *     not known, and without bricks without marks
 */
public record Estimate(
        long marked,
        long unmarked,
        long elements,
        long markedNs,
        long unmarkedNs,
        double variance,
        double openVariance,
        double degreesOfFreedom,
        double weightProducts) {

    /** No bricks. */
    public static final Estimate NONE = new Estimate(0, 0, 0, 0, 0, 0, 0, 0, 0);

    /** The fewest marks whose differences give an error. */
    private static final long FEWEST_MARKS = 2;

    static Estimate of(RowEstimate row, long elements) {
        RowEstimate.Total total = row.total();
        return new Estimate(
                row.marked(),
                row.unmarked(),
                elements,
                Math.round(row.markedNs()),
                Math.max(0, Math.round(total.totalNs() - row.markedNs())),
                total.variance(),
                total.openVariance(),
                total.degreesOfFreedom(),
                total.weightProducts());
    }

    /**
     * Returns the sum of two estimates of different rows, which are drawn independently.
     *
     * @param other the other rows
     * @return their sum
     */
    public Estimate plus(Estimate other) {
        return new Estimate(
                marked + other.marked,
                unmarked + other.unmarked,
                elements + other.elements,
                markedNs + other.markedNs,
                unmarkedNs + other.unmarkedNs,
                variance + other.variance,
                openVariance + other.openVariance,
                degreesOfSum(
                        unmarked, variance, degreesOfFreedom, other.unmarked, other.variance, other.degreesOfFreedom),
                productsOfSum(unmarked, weightProducts, other.unmarked, other.weightProducts));
    }

    /**
     * Returns the estimate of the bricks between two readings of the same rows. The variance of the whole grows by that
     * of the blocks in between, and by the marks' share of it at least, as a difference of two estimates may be too
     * small. If all bricks in between have marks, one counts as unmarked: their time is an estimate, too, since a mark
     * replaces what was supposed of its block.
     *
     * @param earlier a reading
     * @param later a later one without a reset between them
     * @return the difference; its elements and times are at least 0
     */
    public static Estimate between(Estimate earlier, Estimate later) {
        long measured = Math.max(0, later.marked - earlier.marked);
        long others = Math.max(0, later.unmarked - earlier.unmarked);
        long revalued = others == 0 && later.unmarked > 0 && measured > 0 ? 1 : 0;
        long marked = measured - revalued;
        long unmarked = others + revalued;
        boolean hasError = unmarked > 0 && marked >= FEWEST_MARKS;
        double closed = later.variance - later.openVariance;
        double grown = closed - (earlier.variance - earlier.openVariance);
        double share = closed * marked / Math.max(1, later.marked);
        double openVariance = earlier.openVariance + later.openVariance;
        return new Estimate(
                marked,
                unmarked,
                Math.max(0, later.elements - earlier.elements),
                Math.max(0, later.markedNs - earlier.markedNs),
                Math.max(0, later.unmarkedNs - earlier.unmarkedNs),
                hasError ? Math.max(0, Math.max(grown, share)) + openVariance : 0,
                hasError ? openVariance : 0,
                hasError ? Math.max(1, RowEstimate.OVERLAP * (marked - 1)) : 0,
                unmarked > 0 ? Math.max(0, later.weightProducts - earlier.weightProducts) : 0);
    }

    /**
     * Returns the sum of w (w - 1) over the samples of two estimates.
     *
     * @param oneUnmarked bricks without marks of the first
     * @param one its sum
     * @param otherUnmarked bricks without marks of the second
     * @param other its sum
     * @return the sum; 0 if one is not known
     */
    public static double productsOfSum(long oneUnmarked, double one, long otherUnmarked, double other) {
        boolean areKnown = (oneUnmarked == 0 || one > 0) && (otherUnmarked == 0 || other > 0);
        return areKnown ? one + other : 0;
    }

    /**
     * Returns the degrees of freedom of a sum of two independent estimates, after Satterthwaite.
     *
     * @param oneUnmarked bricks without marks of the first
     * @param one its variance
     * @param ofOne its degrees of freedom
     * @param otherUnmarked bricks without marks of the second
     * @param other its variance
     * @param ofOther its degrees of freedom
     * @return the degrees of freedom; 0 if the variance of one is not known, and without such bricks
     */
    public static double degreesOfSum(
            long oneUnmarked, double one, double ofOne, long otherUnmarked, double other, double ofOther) {
        if (oneUnmarked == 0 || otherUnmarked == 0) {
            return oneUnmarked == 0 ? ofOther : ofOne;
        }
        if (ofOne == 0 || ofOther == 0) {
            return 0;
        }
        double terms = one * one / ofOne + other * other / ofOther;
        return terms == 0 ? Math.min(ofOne, ofOther) : (one + other) * (one + other) / terms;
    }
}
