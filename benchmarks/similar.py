import sys, time, random
from collections import defaultdict
from functools import cache
from statistics import mean
sys.path.insert(0, "benchmarks")
import nbformat
import independent_students as ind
from independent_students import ROOT, solutions
from autograder.similar.traits import Kind, Trait, traits_of
from autograder.similar.pairs import pairs_of
WORDS={Kind.COMMENT,Kind.DOCSTRING,Kind.TEXT,Kind.PASSAGE}
def aspect(kind, place):
    return "names" if kind is Kind.NAME else "words" if kind in WORDS else place
def features(w):
    out=defaultdict(set)
    for e,s in w.answers.items():
        for t in traits_of(s): out[aspect(t.kind,e)].add(t)
    for e,s in w.slips.items(): out[e].add(Trait(Kind.SLIP,s))
    for c in w.cells:
        for t in traits_of(c): out[aspect(t.kind,"own")].add(t)
    return dict(out)
@cache
def known():
    k=set()
    for p in sorted((ROOT/"solutions").glob("*/*.ipynb")):
        for c in nbformat.read(p,4).cells:
            k|=set(traits_of(c.source,is_code=c.cell_type=="code"))
    return k
if __name__=="__main__":
    t=time.process_time(); k=known(); print("known",time.process_time()-t,len(k))
    n=int(sys.argv[1]); classes=int(sys.argv[2])
    for l in sys.argv[3:] or ind.LESSONS:
        t=time.process_time()
        people=[features(w) for w in ind.students(l,n)]
        t1=time.process_time()
        chance=random.Random(1); found=[]
        for c in range(classes):
            who=chance.sample(range(n),100)
            ps=pairs_of([people[i] for i in who],k,allowed=1.0)
            found.append([p.by_chance for p in ps])
        t2=time.process_time()
        print(l,round(t1-t,1),round(t2-t1,1),{a:sum(x<=a for f in found for x in f)/classes for a in (1,.3,.1,.05,.02,.01,.003,.001)})
