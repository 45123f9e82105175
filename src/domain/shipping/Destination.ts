/** Destination of goods, from the address of a checkout. */
export interface Destination {
  readonly line1: string
  readonly line2?: string | null | undefined
  readonly city: string
  readonly state?: string | null | undefined
  readonly postalCode: string
  /** Zones use two-letter country codes (ISO 3166-1). */
  readonly country: string
}

/** How names of places are compared: in upper case, without the spaces around them. */
export const comparable = (place: string): string => place.trim().toUpperCase()
