import { createHmac } from "node:crypto"
import { signingKey } from "../../domain/webhooks/WebhookSecret.ts"
import type { WebhookMessage } from "../../domain/webhooks/WebhookSender.ts"

const signature = (secret: string, signed: string): string =>
  `v1,${createHmac("sha256", signingKey(secret)).update(signed).digest("base64")}`

/**
 * Headers of a delivery at this time (contract, platform §9.2), after Standard Webhooks. The first secret is the
 * endpoint's current one; the others also sign while a rotation overlaps. The older `x-commerce-signature` supports one
 * signature only.
 */
export const deliveryHeaders = (
  { body, id, type }: WebhookMessage,
  at: Date,
  [secret, ...others]: readonly [string, ...ReadonlyArray<string>]
): Readonly<Record<string, string>> => {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signed = `${id}.${timestamp}.${body}`
  return {
    "content-type": "application/json",
    "user-agent": "Stoa-Webhooks/1",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": [secret, ...others].map((one) => signature(one, signed)).join(" "),
    "x-commerce-event": type,
    "x-commerce-signature": createHmac("sha256", secret).update(body).digest("hex")
  }
}
