/** Loaded by --import: moves the clock of a process by GW_TEST_CLOCK_SKEW_MS. */
const skew = Number(process.env.GW_TEST_CLOCK_SKEW_MS ?? 0);
const RealDate = Date;

globalThis.Date = class extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + skew);
    else super(...args);
  }

  static now() {
    return RealDate.now() + skew;
  }
};
