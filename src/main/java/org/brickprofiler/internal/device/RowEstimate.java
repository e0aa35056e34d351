package org.brickprofiler.internal.device;

/**
 * Estimates the total time of a row from its marked samples. Each sample stands for the bricks of its block: the total
 * is the sum of each duration times its weight, and its variance follows from the differences of successive samples.
 * One thread at a time; allocates nothing but its results.
 */
final class RowEstimate {

    /** With fewer pairs than this among samples of a weight, the pairs of the exact beginning count, too. */
    private static final int FEW_PAIRS = 8;

    /** The share of a window's recent mean that one sample has at least. */
    private static final int RECENT = 8;

    /** Differences of successive pairs overlap: they are worth two thirds of as many independent ones. */
    static final double OVERLAP = 2.0 / 3;

    private long marked;
    private long unmarked;
    private long weights;
    private long owed;
    private double markedNs;
    private double weightedNs;
    private double squaredWeights;
    private double fourthWeights;
    private double weightProducts;
    private double variance;
    private double lastVariance;
    private double weightedDifferences;
    private long weightedPairs;
    private double differences;
    private long pairs;
    private double lastNs;
    private long lastWeight;
    private double recentNs;

    /**
     * An estimated total. Immutable.
     *
     * @param totalNs of all bricks, ns
     * @param variance of the total, ns²
     * @param openVariance the part of it that stems from the bricks since the last complete block, ns²
     * @param degreesOfFreedom of the variance; 0 if it is not known
     * @param weightProducts the sum of w (w - 1) over the samples, of which each stands for w bricks
     */
    record Total(
            double totalNs, double variance, double openVariance, double degreesOfFreedom, double weightProducts) {}

    /** Adds a marked sample that stands for a number of bricks, itself among them, and for those that are owed. */
    void sample(long elapsedNs, long weight) {
        long all = Math.max(1, weight + owed);
        owed += weight - all;
        double squared = (double) all * all;
        lastVariance = 0;
        if (marked > 0) {
            double difference = elapsedNs - lastNs;
            differences += difference * difference;
            pairs++;
            if (all > 1) {
                weightedDifferences += difference * difference;
                weightedPairs++;
                lastVariance = squared * difference * difference / 2;
            }
        }
        marked++;
        weights += all;
        markedNs += elapsedNs;
        weightedNs += (double) all * elapsedNs;
        weightProducts += product(all);
        variance += lastVariance;
        if (all > 1) {
            squaredWeights += squared;
            fourthWeights += squared * squared;
        }
        lastNs = elapsedNs;
        lastWeight = all;
        recentNs += (elapsedNs - recentNs) / Math.min(marked, RECENT);
    }

    private static double product(long weight) {
        return weight * (weight - 1.0);
    }

    /** Lets the next sample stand for a number of further bricks; for fewer, if it is negative. */
    void owe(long bricks) {
        owed += bricks;
    }

    /** Adds bricks without marks. */
    void stopped(long bricks) {
        unmarked += bricks;
    }

    long marked() {
        return marked;
    }

    long unmarked() {
        return unmarked;
    }

    /** Returns the sum of the marked durations, ns. */
    double markedNs() {
        return markedNs;
    }

    /** Returns the weight of the last sample; 0 without one. */
    long lastWeight() {
        return lastWeight;
    }

    /** Returns how many more bricks there are than the samples stand for; negative if a block is not complete. */
    long open() {
        return unmarked + marked - weights;
    }

    /** Returns the mean of the squared differences of successive samples; negative without one. */
    private double meanDifference() {
        if (weightedPairs >= FEW_PAIRS) {
            return weightedDifferences / weightedPairs;
        }
        return pairs > 0 ? differences / pairs : -1;
    }

    /** Returns the estimate; exact if each brick was marked. There is at least one sample. */
    Total total() {
        if (unmarked == 0) {
            return new Total(markedNs, 0, 0, 0, 0);
        }
        long open = open();
        boolean isLastOpen = open < 0 && -open < lastWeight;
        double scale = open < 0 && !isLastOpen ? (double) (unmarked + marked) / weights : 1;
        double squares = squaredWeights;
        double fourths = fourthWeights;
        double known = variance;
        double totalNs = weightedNs * scale;
        double openSquares = 0;
        if (isLastOpen) {
            long stopped = lastWeight + open;
            double squared = (double) lastWeight * lastWeight;
            totalNs += open * lastNs;
            known -= lastVariance;
            squares -= squared;
            fourths -= squared * squared;
            openSquares = stopped > 1 ? (double) stopped * stopped : 0;
        } else if (open > 0) {
            totalNs += open * recentNs;
            openSquares = (double) open * open / 4 + open;
        }
        // Bricks behind the last complete block are like the last sample.
        double products = isLastOpen || open > 0
                ? weightProducts - product(lastWeight) + product(lastWeight + open)
                : weightProducts;
        double half = meanDifference() / 2;
        if (half < 0) {
            return new Total(totalNs, 0, 0, 0, products);
        }
        double floor = Math.max(known, squares * half);
        double ofOne = squares > 0 ? floor / squares : half;
        double openVariance = openSquares * ofOne;
        double degrees = squares > 0
                ? OVERLAP * (squares + openSquares) * (squares + openSquares) / (fourths + openSquares * openSquares)
                : OVERLAP * (pairs - 1);
        return new Total(totalNs, floor * scale * scale + openVariance, openVariance, Math.max(1, degrees), products);
    }

    /** Forgets all samples and bricks, and what is owed. */
    void clear() {
        marked = 0;
        unmarked = 0;
        weights = 0;
        owed = 0;
        markedNs = 0;
        weightedNs = 0;
        squaredWeights = 0;
        fourthWeights = 0;
        weightProducts = 0;
        variance = 0;
        lastVariance = 0;
        weightedDifferences = 0;
        weightedPairs = 0;
        differences = 0;
        pairs = 0;
        lastNs = 0;
        lastWeight = 0;
        recentNs = 0;
    }
}
