import { onDatabase } from "./BenchPostgres.ts"

/** The password of everybody in a measurement. */
export const benchPassword = "a password for measurements"

/** The address of the nth account. */
export const accountOf = (n: number): string => `account-${n}@example.com`

/** Posts to `/api/auth`, as a program does; gives the status once the whole answer is there. */
export const postAuth = async (origin: string, path: string, body: object): Promise<number> => {
  const answer = await fetch(`${origin}/api/auth${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  await answer.arrayBuffer()
  return answer.status
}

/**
 * Accounts that can sign in, and behind them as many whose addresses are not verified. One hash serves all: it is made by
 * signing up the first. A second measurement of a run finds them.
 */
export const seedAccounts = async (url: string, origin: string, count: number): Promise<void> => {
  const body = { name: "Bench", email: "first@example.com", password: benchPassword }
  const status = await postAuth(origin, "/sign-up/email", body)
  if (status !== 200) throw new Error(`signing up the first account was answered ${status}`)
  await onDatabase(url, async (client) => {
    await client.query(
      `insert into users (name, email, email_verified)
        select 'Bench', 'account-' || n || '@example.com', n < $1 from generate_series(0, $1 * 2 - 1) n
        on conflict (email) do update set email_verified = excluded.email_verified`,
      [count]
    )
    await client.query(
      `insert into user_accounts (account_id, provider_id, user_id, password)
        select u.id::text, 'credential', u.id, (select a.password from user_accounts a limit 1) from users u
        where u.email like 'account-%' on conflict do nothing`
    )
    await client.query("analyze users, user_accounts")
  })
}
