import { DateTime, Schema } from "effect"

const Clock = Schema.String.check(
  Schema.isPattern(/^([01]\d|2[0-3]):[0-5]\d$/, { expected: "a time of day, such as 22:00" })
)

/** Hours of the store's time zone in which nothing is sent that receivers can decline: `{ from: "21:00", until: "08:00" }`. */
export const QuietHours = Schema.Struct({ from: Clock, until: Clock })
export type QuietHours = typeof QuietHours.Type

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

/** The end of the quiet hours in which a moment lies; null outside of them. */
export const endOfQuietHours = ({ from, until }: QuietHours, timeZone: string, at: Date): Date | null => {
  const local = DateTime.makeZonedUnsafe(at, { timeZone })
  const { hour, minute } = DateTime.toParts(local)
  const [now, begins, ends] = [hour * 60 + minute, minutesOf(from), minutesOf(until)]
  const isQuiet = begins <= ends ? now >= begins && now < ends : now >= begins || now < ends
  if (!isQuiet) return null
  const day = now < ends ? local : DateTime.add(local, { days: 1 })
  const end = DateTime.setParts(day, { hour: Math.floor(ends / 60), minute: ends % 60, second: 0, millisecond: 0 })
  return DateTime.toDateUtc(end)
}
