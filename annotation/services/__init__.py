"""Every write of the annotation, by topic. Each checks the rule, writes, and can be sent twice.

``taxonomies``: what is scored. ``settings``: how a study annotates.
"""
