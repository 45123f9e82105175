import { Schema } from "effect"
import { option, type PluginConfig, timeOfDay, TimeZone } from "stoa/plugin"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const aDay = 1_440

/** An end at 00:00 is that of the day. */
const endOf = ({ to }: { readonly to: string }) => to === "00:00" ? "24:00" : to

/** Hours of a day of the week, 0 is Sunday. */
const OpeningHours = Schema.Struct({ dayOfWeek: whole(0, 6), from: timeOfDay.schema, to: timeOfDay.schema }).check(
  Schema.makeFilter((hours) =>
    hours.from < endOf(hours) || "must begin before they end: write hours over midnight as two."
  )
)

/** Slots of hours that overlap would be counted twice. */
const Week = Schema.Array(OpeningHours).check(
  Schema.makeFilter((week) =>
    !week.some((one, n) =>
      week.slice(n + 1).some((other) =>
        one.dayOfWeek === other.dayOfWeek && one.from < endOf(other) && other.from < endOf(one)
      )
    ) || "must not have hours that overlap."
  )
)

/** What a deployment decides of its scheduled orders. */
export const ScheduleSettings = Schema.Struct({
  releaseMinutes: option(whole(0, 10_080), {
    default: 15,
    description: "How many minutes before its time an order is placed"
  }),
  leadMinutes: option(whole(0, 525_600), {
    default: 15,
    description: "How many minutes ahead an order is scheduled at least"
  }),
  maxDaysAhead: option(whole(1, 730), {
    default: 90,
    description: "How many days ahead an order is scheduled at most"
  }),
  retryMinutes: option(Schema.Array(whole(1, 10_080)), {
    default: [30, 120, 480],
    description: "After how many minutes each an order that could not be placed is tried again"
  }),
  expireHours: option(whole(1, 720), {
    default: 24,
    description: "How many hours after its time an order that was not placed expires"
  }),
  noticeDays: option(whole(0, 60), {
    default: 3,
    description: "How many days before a renewal is ordered its customer gets a mail with its date and price; 0: none"
  }),
  maxPriceIncreasePercent: option(Schema.NullOr(whole(0, 1_000)), {
    default: null,
    description:
      "By how many percent the total of a repeat may rise before its customer is asked, unless the order says it; null: by any"
  }),
  priceReviewDays: option(whole(1, 60), {
    default: 7,
    description:
      "After how many days an order is cancelled whose customer does not answer whether its new price is right"
  }),
  holdGoods: option(Schema.Literals(["release", "scheduling"]), {
    default: "release",
    description: "From when on goods are held: from the checkout on, or from the scheduling on"
  }),
  maxHoldDays: option(whole(1, 730), {
    default: 7,
    description: "How many days ahead goods are held at most from the scheduling on; staff is not bound"
  }),
  maxHeldUnits: option(whole(1, 1_000_000), {
    default: 20,
    description:
      "How many units in orders to come one customer holds at most from the scheduling on; staff is not bound"
  }),
  timezone: option(Schema.NullOr(TimeZone), {
    default: null,
    description: "The time zone of the opening hours and of repeats; null: the store's"
  }),
  openingHours: option(Week, { default: [], description: "When orders can be for; empty: at any time" }),
  slotMinutes: option(whole(0, aDay), {
    default: 0,
    description: "How long a slot with a capacity is; 0: there are none"
  }),
  slotCapacity: option(whole(0, 100_000), {
    default: 10,
    description: "How many orders a slot takes unless staff says otherwise"
  }),
  keepDays: option(whole(1, 3_650), {
    default: 730,
    description: "How many days addresses and notes are kept once an order has ended"
  })
})
type Options = typeof ScheduleSettings.Type
export type ScheduleSettings = Options & { readonly timezone: string }

export const settingsIn = (config: Pick<PluginConfig, "timeZone">, options: Options): ScheduleSettings => ({
  ...options,
  timezone: options.timezone ?? config.timeZone
})
