import { median } from "./measure/Figures.ts"
import { atMost, heading, note, record, table } from "./measure/Report.ts"
import { measureWindow, type Window } from "./measure/Window.ts"
import type { Options } from "./Options.ts"
import { accountOf, benchPassword, postAuth, seedAccounts } from "./servers/Accounts.ts"
import type { Stage } from "./servers/Stage.ts"

/** Sign-ins under way at any moment. */
const parallel = 50

/** Ten sign-ins in a quarter of an hour are allowed to an address. */
const accounts = 1_000

/** How much slower others may become. */
const bar = 2

/** Keeps so many sign-ins under way until it is stopped; then gives how many were answered, and how. */
const rush = (origin: string, from: { next: number }) => {
  let going = true
  const answers = new Map<number, number>()
  const one = async () => {
    while (going) {
      const status = await postAuth(origin, "/sign-in/email", {
        email: accountOf(from.next++ % accounts),
        password: benchPassword
      })
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
  }
  const all = Promise.all(Array.from({ length: parallel }, one))
  return async () => {
    going = false
    await all
    return Object.fromEntries(answers)
  }
}

const steps = ["list", "add"] as const

const p99 = (windows: ReadonlyArray<Window>, step: string): number =>
  median(windows.map(({ load }) => load.steps[step]?.p99 ?? 0))

/** What 50 sign-ins at once do to those who look at the catalog and fill their carts. */
export const runSignIns = async (stage: Stage, options: Options): Promise<void> => {
  const users = options.users ?? 4
  const seconds = options.seconds ?? 8
  heading(`${users} shoppers who read the catalog and fill carts, without and with ${parallel} sign-ins under way`)
  const { origin } = stage.stoa.server
  await seedAccounts(stage.postgres.urlOf("stoa"), origin, accounts)
  const job = {
    flow: "visit",
    users,
    warmup: options.warmup ?? 3,
    seconds,
    flows: 0,
    products: options.products
  } as const
  const windowOf = () => measureWindow(stage.postgres, stage.stoa, { ...job, firstCart: 0 })
  const [without, beside]: [Array<Window>, Array<Window>] = [[], []]
  const from = { next: 0 }
  const answers: Array<Readonly<Record<string, number>>> = []
  for (let round = 0; round < options.windows; round++) {
    without.push(await windowOf())
    const stop = rush(origin, from)
    try {
      beside.push(await windowOf())
    } finally {
      answers.push(await stop())
    }
  }
  table(
    ["step", "p99 without", "p99 with", "times", "p50 without", "p50 with"],
    steps.map((step) => {
      const p50 = (windows: ReadonlyArray<Window>) => median(windows.map(({ load }) => load.steps[step]?.p50 ?? 0))
      return [
        step,
        p99(without, step),
        p99(beside, step),
        p99(beside, step) / p99(without, step),
        p50(without),
        p50(beside)
      ]
    })
  )
  note(`sign-ins answered in each window, by status: ${answers.map((one) => JSON.stringify(one)).join(" ")}`)
  record("sign-ins", { without: without.map(({ load }) => load), with: beside.map(({ load }) => load), answers })
  for (const step of steps) {
    atMost(`p99 of ${step} beside ${parallel} sign-ins`, p99(beside, step) / p99(without, step), bar, " x")
  }
}
