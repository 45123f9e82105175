import { Redacted } from "effect"
import { encryptSecret, type Keyring, openSecret } from "../../../domain/webhooks/SecretEncryption.ts"
import type { Table } from "./Table.ts"

/** Whose a secret is: one that is copied to another row, column or organization does not decrypt. */
export interface SecretOwner {
  readonly organizationId: string
  readonly id: string
}

/** Encrypts and opens the secrets of a table. A deployment without a key does not start with such a table. */
export const secretsOf = (table: Table, keyring: Keyring | undefined) => {
  const names = Object.keys(table.columns).filter((name) => table.columns[name]?.facts.isSecret === true)
  const keys = (): Keyring => {
    if (keyring === undefined) throw new Error(`Secrets of "${table.name}" need STOA_SECRETS_KEY.`)
    return keyring
  }
  const ownerOf = ({ id, organizationId }: SecretOwner, name: string) => `${organizationId}/${table.name}/${id}/${name}`
  return {
    /** What changes rows that are not known one by one must not name a secret: each is encrypted for its row. */
    refuse: (values: Readonly<Record<string, unknown>>) => {
      const named = names.find((name) => values[name] !== undefined)
      if (named !== undefined) throw new Error(`"${table.name}.${named}" is a secret: insert or update the row alone.`)
    },
    /** The values with their secrets encrypted: the id of the key, a colon and what it encrypted. */
    encrypt: (owner: SecretOwner, values: Readonly<Record<string, unknown>>) => {
      const secrets = names.filter((name) => typeof values[name] === "string").map((name) => {
        const { keyId, text } = encryptSecret(keys(), ownerOf(owner, name), String(values[name]))
        return [name, `${keyId}:${text}`] as const
      })
      return secrets.length === 0 ? values : { ...values, ...Object.fromEntries(secrets) }
    },
    open: (owner: SecretOwner, name: string, stored: string): Redacted.Redacted<string> => {
      const [keyId = "", text = ""] = stored.split(":")
      const opened = openSecret(keys(), ownerOf(owner, name), { keyId, text })
      if (opened === undefined) {
        throw new Error(
          `The secret "${name}" of row ${owner.id} of "${table.name}" opens with no key of STOA_SECRETS_KEY.`
        )
      }
      return Redacted.make(opened, { label: `${table.name}.${name}` })
    }
  }
}
