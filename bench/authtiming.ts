import { median, percentile } from "./measure/Figures.ts"
import { ranksOf } from "./measure/RankTest.ts"
import { atLeast, atMost, heading, note, record, table } from "./measure/Report.ts"
import type { Options } from "./Options.ts"
import { accountOf, benchPassword, postAuth, seedAccounts } from "./servers/Accounts.ts"
import type { Stage } from "./servers/Stage.ts"

/** Twice the deviation that chance alone gives to 200 samples against 200. */
const widest = 0.06

/** Below it a difference is taken for real. */
const leastChance = 0.01

/** A request that must not tell whether its address is known, of the nth address that is or is not. */
interface Question {
  readonly name: string
  readonly path: string
  readonly body: (email: string) => object
  /** The nth known address that is asked about. */
  readonly known: (n: number, count: number) => string
  readonly status: number
  /** Asked at once: an answer that waits on purpose leaves the machine to others. */
  readonly lanes: number
}

const questions: ReadonlyArray<Question> = [
  {
    name: "sign-in, wrong password",
    path: "/sign-in/email",
    body: (email) => ({ email, password: "the wrong password" }),
    known: accountOf,
    status: 401,
    lanes: 1
  },
  {
    name: "sign-up",
    path: "/sign-up/email",
    body: (email) => ({ name: "Bench", email, password: benchPassword }),
    known: accountOf,
    status: 200,
    lanes: 1
  },
  {
    name: "request for a new password",
    path: "/request-password-reset",
    body: (email) => ({ email }),
    known: accountOf,
    status: 200,
    lanes: 1
  },
  {
    name: "another link of verification",
    path: "/send-verification-email",
    body: (email) => ({ email }),
    known: (n, count) => accountOf(count + n),
    status: 200,
    lanes: 6
  }
]

interface Times {
  readonly known: Array<number>
  readonly unknown: Array<number>
}

const warmUps = 10

/** Asks about a known and an unknown address in turn, which one first by chance. */
const ask = async (origin: string, question: Question, count: number): Promise<Times> => {
  const times: Times = { known: [], unknown: [] }
  let next = 0
  const timed = async (email: string, into: Array<number>, counts: boolean) => {
    const started = performance.now()
    const status = await postAuth(origin, question.path, question.body(email))
    if (status !== question.status) throw new Error(`${question.name}: ${status} instead of ${question.status}`)
    if (counts) into.push(performance.now() - started)
  }
  const lane = async () => {
    for (let n = next++; n < count + warmUps; n = next++) {
      const known = () => timed(question.known(n, count + warmUps), times.known, n >= warmUps)
      const unknown = () => timed(`unknown-${crypto.randomUUID()}@example.com`, times.unknown, n >= warmUps)
      for (const one of Math.random() < 0.5 ? [known, unknown] : [unknown, known]) await one()
    }
  }
  await Promise.all(Array.from({ length: question.lanes }, lane))
  return times
}

const sorted = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)

/** Whether the time of an answer tells if an address is known, by a rank test over interleaved samples. */
export const runAuthTiming = async (stage: Stage, options: Options): Promise<void> => {
  const count = options.flows ?? 200
  heading(`does the time of an answer tell who has an account? ${count} samples each, in turn`)
  const { origin } = stage.stoa.server
  await seedAccounts(stage.postgres.urlOf("stoa"), origin, count + warmUps)
  const rows: Array<ReadonlyArray<string | number>> = []
  const found: Array<readonly [string, number, number]> = []
  for (const question of questions) {
    if (options.only !== undefined && !question.name.includes(options.only)) continue
    const { known, unknown } = await ask(origin, question, count)
    const { auc, p } = ranksOf(known, unknown)
    const [of, than] = [percentile(sorted(known), 0.9), percentile(sorted(unknown), 0.9)]
    rows.push([question.name, median(known), median(unknown), of, than, auc, p])
    found.push([question.name, auc, p])
    record("auth-timing", { question: question.name, known, unknown, auc, p })
  }
  table(["request", "known p50", "unknown p50", "known p90", "unknown p90", "AUC", "p"], rows)
  note("milliseconds; AUC: how often a known address takes longer, 0.5 where nothing tells; p: Mann-Whitney, two-sided")
  for (const [name, auc, p] of found) {
    atMost(`${name}: distance of the AUC from 0.5`, Math.abs(auc - 0.5), widest)
    atLeast(`${name}: p`, p, leastChance)
  }
}
